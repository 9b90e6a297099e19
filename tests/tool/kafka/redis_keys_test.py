"""seendb redis import with its keys in a topic of a real Kafka."""

import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import real_kafka  # noqa: E402
import real_redis  # noqa: E402
from tool_runner import INCOMPATIBLE, NOT_FOUND, USAGE, ToolCase  # noqa: E402


class TopicKeysTest(ToolCase):

    def send(self, broker, lines):
        subprocess.run(["kcat", "-b", broker.address, "-P", "-t", "keys", "-K", "\t"],
                       input="".join(line + "\n" for line in lines).encode(), check=True, timeout=60)

    def test_keys_of_a_topic(self):
        now = int(time.time()) * 1000
        with real_kafka.Broker() as broker, real_redis.Redis() as redis:
            broker.topic("keys", 3)
            real_redis.fill(redis, [(now, str(user), "v%d" % i) for user in range(2_000)
                                    for i in range(3)])
            self.send(broker, ["k%d\twatched:%d" % (user, user) for user in range(1_500)])
            flags = ["redis", "import", "--redis", redis.url, "--db", self.db, "--json",
                     "--user-from", "watched:{user}", "--keys-topic", "keys",
                     "--state", self.path("state")]
            self.assertIn("--brokers", self.tool(*flags, code=USAGE).err)
            flags += ["--brokers", broker.address]
            done = self.tool(*flags).json
            self.assertEqual((done["users"], done["members"]), (1_500, 4_500))
            # The key of a message counts where its value is empty.
            self.send(broker, ["watched:%d\t" % user for user in range(1_500, 2_000)])
            done = self.tool(*flags).json
            self.assertEqual((done["users"], done["resumed_after_users"]), (2_000, 1_500))
            self.assertEqual(self.tool(*flags).json["users"], 2_000)
            compare = self.tool("redis", "compare", "--redis", redis.url, "--db", self.db,
                                "--user-from", "watched:{user}", "--json").json
            self.assertEqual((compare["users"], compare["missing"]), (2_000, 0))
            other = [word if word != "keys" else "nobody" for word in flags]
            other[other.index("--state") + 1] = self.path("other")
            self.tool(*other, "--property", "allow.auto.create.topics=false", code=NOT_FOUND)
            broker.delete_topic("keys")
            broker.topic("keys", 3)
            self.tool(*flags, code=INCOMPATIBLE)


if __name__ == "__main__":
    real_kafka.require()
    real_redis.require()
    unittest.main()
