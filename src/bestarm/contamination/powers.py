"""What an adversary may use, which decides which contamination models cover it.

The first three toss a coin for each reward (ABM19: Altschuler, Brunel and Malek, 2019); the others follow a rule.
"""

from __future__ import annotations

OBLIVIOUS = "oblivious"  # sees nothing
PRESCIENT = "prescient"  # its values may depend on all true rewards, its coin on none
MALICIOUS = "malicious"  # its coin may depend on the reward, too
SHARE_OF_ARM = "share-of-arm"  # replaces at most floor(epsilon n) of the n rewards of an arm, at every n
SHARE_OF_ALL = "share-of-all"  # replaces at most floor(epsilon N) of the N rewards of all arms, at every N
BURSTS = "bursts"  # replaces whole blocks of rewards: no share and no coin limits it

BLIND_COINS = (OBLIVIOUS, PRESCIENT)
COINS = (*BLIND_COINS, MALICIOUS)  # each may do whatever those before it may
