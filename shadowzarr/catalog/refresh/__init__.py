"""Icechunk repositories, one per dandiset, that follow the archive.

What belongs into a repository is said by the archive's listing, what can go into it by the references that
were published. `decide` compares that with what the repository holds, `apply` writes the difference as one
commit, `versions` makes tags of what was published, `run` puts the steps together. Nothing of embargoed
assets goes into a repository. Needs the extra ``icechunk``.
"""
