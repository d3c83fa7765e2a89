"""What an adversary may use, which decides which contamination models cover it.

The first four toss a coin for each reward (ABM19: Altschuler, Brunel and Malek, 2019); the others follow a rule.
"""

from __future__ import annotations

OBLIVIOUS = "oblivious"  # sees nothing
CAUSAL = "causal"  # its values may depend on the reward and on all that came before, its coin does not see the reward
PRESCIENT = "prescient"  # its values may depend on all true rewards, those to come included, its coin on none
MALICIOUS = "malicious"  # its coin may depend on the reward, too
SHARE_OF_ARM = "share-of-arm"  # replaces at most floor(epsilon n) of the n rewards of an arm, at every n
SHARE_OF_ALL = "share-of-all"  # replaces at most floor(epsilon N) of the N rewards of all arms, at every N
BURSTS = "bursts"  # replaces whole blocks of rewards: no share and no coin limits it

CAUSAL_COINS = (OBLIVIOUS, CAUSAL)
BLIND_COINS = (*CAUSAL_COINS, PRESCIENT)
COINS = (*BLIND_COINS, MALICIOUS)  # each may do whatever those before it may
