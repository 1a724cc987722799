"""Names that Python 3.10 moved, for packages that were published before: import it first."""

import collections
import collections.abc

collections.Iterable = collections.abc.Iterable
