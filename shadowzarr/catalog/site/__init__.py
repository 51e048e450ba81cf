"""The catalogue as a static site: pages that any web server, or a bucket, hands out.

What an output holds is read from its published tables (`shadowzarr.catalog.tables`) and from the lists of
assets that were passed over. The page itself is built from ``js/site`` and only copied here.
"""
