"""Linear operators that never densify silently, and the solvers that use them."""
