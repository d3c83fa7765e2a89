"""Methods of other authors for rewards that nobody replaced, as plain Python policies: epsilon is ignored.

They are here to be measured beside `certified` (docs/explanation/peers.md). Under contamination they promise nothing.
"""

from bestarm.reference.peers.peak import PEAK
from bestarm.reference.peers.top_two import TopTwo
from bestarm.reference.peers.track_and_stop import TrackAndStop

__all__ = ["PEAK", "TopTwo", "TrackAndStop"]
