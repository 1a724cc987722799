"""Attention under the names of the flash kernels, which XLA chooses itself where it has them."""

from ...ops.attention import (
    flash_attention,
    flash_attn_qkvpacked,
    flash_attn_unpadded,
    scaled_dot_product_attention,
)

__all__ = ["flash_attention", "flash_attn_qkvpacked", "flash_attn_unpadded", "scaled_dot_product_attention"]
