"""Outcomes as Markdown, and the page that holds them."""
