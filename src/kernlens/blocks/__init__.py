"""Tables as blocks of rows: where they lie, what is summed over them, and a sample of them."""

from kernlens.blocks.checkpoints import checkpoint
from kernlens.blocks.opening import RowBlocks, as_blocks, is_blocks

__all__ = ["RowBlocks", "as_blocks", "checkpoint", "is_blocks"]
