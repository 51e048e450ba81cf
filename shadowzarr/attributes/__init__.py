"""Attributes that JSON lacks, and how they are stored."""

from .encoded_attributes import decode_attributes, decode_non_finite, encode_attributes

__all__ = ["decode_attributes", "decode_non_finite", "encode_attributes"]
