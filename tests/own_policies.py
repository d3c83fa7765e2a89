"""A method of the user's own, as the text of a file that a test writes."""

TURNS = '''
class Turns:
    """Each arm in turn; the highest sum after `rounds` rewards of each."""

    name = "in turns"

    def __init__(self, question, *, rounds=4):
        self.rounds, self.rewards = rounds, [[] for _ in range(question.arms)]

    def choose(self, pending):
        return min(range(len(pending)), key=lambda arm: len(self.rewards[arm]) + pending[arm])

    def observe(self, arm, reward):
        self.rewards[arm].append(reward)

    def decision(self):
        sums = [sum(rewards) for rewards in self.rewards]
        return None if min(map(len, self.rewards)) < self.rounds else sums.index(max(sums))

    def estimates(self):
        return [sum(rewards) / len(rewards) if rewards else float("nan") for rewards in self.rewards]
'''
