"""FedSage+'s missing-neighbour generator: learns to mend a client's graph and appends generated neighbours to it."""

from fedbench.neighgen.mend import Mended, mend
from fedbench.neighgen.settings import NeighGenSettings

__all__ = ["Mended", "NeighGenSettings", "mend"]
