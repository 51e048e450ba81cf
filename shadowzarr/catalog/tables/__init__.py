"""The catalogue: what an output holds, as tables for questions. Derived from records and references only.

Whatever stands here can be made again from what lies beside it (`shadowzarr.catalog.tables.update`), so
nothing depends on it. SQLite holds the working state, Parquet files are what readers get.
"""
