"""Flows over ``tasks``: what is done in which order, how it is asked for, and what a person sees.

``python -m flows run CONFIG`` runs one. Nothing here imports Prefect but the flows themselves.
"""
