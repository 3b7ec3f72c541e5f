"""Indexing by several processes: which of them takes which source."""

import re
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.contents import RECORDS

_RECORD: Final = re.compile(rf"(?is).*?{re.escape(RECORDS)}#(.+)")


@dataclass(frozen=True)
class Shard:
    """
    One part of the work.

    Which part a source belongs to depends on nothing but its name, so processes need not know of each other: each
    writes and removes its own, and one that was killed is run again. A record belongs where its id belongs, in
    whatever file it stands, so that nobody removes what another has just taken over.

    :param number: Which part, from 1.
    :param of: How many parts there are.
    """

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str | None) -> "Shard":
        """
        Read a shard as a person writes it.

        ```python
        from haystack_integrations.crag.pipelines.shards import Shard

        assert Shard.parse("2/3") == Shard(number=2, of=3)
        ```

        :param text: Such as `1/2`; None for all of the work.
        :returns: The shard.
        :raises ConfigurationError: With what was got and what is accepted.
        """
        if text is None:
            return cls()
        number, _, of = str(text).partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            msg = f"shard must be K/N with K from 1 to N, such as 1/2, but got {text!r}"
            raise ConfigurationError(msg)
        return cls(int(number), int(of))

    def takes(self, name: str, id_: str | None = None) -> bool:
        """
        Tell whether a source belongs to this part.

        :param name: The source's name.
        :param id_: The id of a document of it, where there is one.
        :returns: True in exactly one of the parts.
        """
        key = id_ if id_ and name.endswith(f"#{id_}") else name
        # The passages of a long record have ids of their own, and it belongs where it would as a short one.
        if key is name and (found := _RECORD.fullmatch(name)):
            key = found[1]
        return crc32(key.encode(errors="surrogatepass")) % self.of == self.number - 1
