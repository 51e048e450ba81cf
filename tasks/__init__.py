"""Prefect tasks: one verb each, a few lines around one function of `shadowzarr.catalog`.

A task adds a policy (retries, back-off, which errors are worth trying again) and nothing else.
References never travel between tasks; they are written to staging inside one.
"""
