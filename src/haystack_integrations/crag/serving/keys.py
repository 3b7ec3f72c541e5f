"""API keys: several at once, and exchanged without a restart."""

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from haystack import logging

from haystack_integrations.crag.errors import ConfigurationError

logger = logging.getLogger(__name__)


class Keys:
    """
    Tells keys that are accepted from others, in a time that does not depend on how much of a key is right.

    ```python
    from haystack_integrations.crag.serving.keys import Keys

    keys = Keys(["of-the-old-client", "of-the-new-client"])
    assert keys.accept("of-the-new-client")
    assert not keys.accept("of-the-new-clienT")
    ```
    """

    def __init__(self, given: Iterable[str] = (), file: Path | None = None) -> None:
        """
        Take the keys.

        :param given: Keys that hold as long as the process runs.
        :param file: File with further keys, one a line, `#` begins a line of comment; read again whenever it changes.
        :raises ConfigurationError: When the file cannot be read, or there is no key in it.
        """
        self._given = _digests(given)
        self._file, self._version = file, (0, 0, 0, 0)
        self._read: tuple[bytes, ...] = ()
        self._trouble = "none stands in it"
        self.required = bool(self._given) or file is not None
        if file is not None and not self._filed():
            msg = (
                f"got no API key from the file {str(file)!r} ({self._trouble}), wanted one a line in UTF-8; "
                "write keys into it that you made up, and let this process read it"
            )
            raise ConfigurationError(msg)

    def accept(self, key: str) -> bool:
        """
        Tell whether a key is accepted.

        :param key: What the client sent.
        :returns: True for a key that was given or stands in the file now.
        """
        digest = _digest(key)
        # All are compared before one is looked at, so the time does not tell which one was like it.
        same = [hmac.compare_digest(digest, known) for known in (*self._given, *self._filed())]
        return any(same)

    def _filed(self) -> tuple[bytes, ...]:
        """Read the file if it has changed. One that has vanished or is empty lets nobody in: that is how to revoke."""
        if self._file is None:
            return ()
        try:
            found = self._file.stat()
            # A copy that keeps times (`cp -p`, `rsync -t`) may give a file of other keys the old time and size.
            version = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
            if version != self._version:
                # A key may have a `#` in it: to cut it there would let its first characters in.
                lines = self._file.read_text("utf-8-sig").splitlines()
                self._read = _digests(line for line in lines if not line.lstrip().startswith("#"))
                self._version = version
                if self._read:
                    logger.info("API keys read: {count}", count=len(self._read))
                else:
                    logger.warning("The file of API keys holds none now, so whoever had one of it is refused.")
        except (OSError, UnicodeDecodeError) as error:
            self._trouble = type(error).__name__
            if self._read:
                logger.error("API keys cannot be read: {kind}", kind=self._trouble)
            self._read, self._version = (), (0, 0, 0, 0)
        return self._read


def _digests(keys: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(_digest(key.strip()) for key in keys if key.strip())


def _digest(key: str) -> bytes:
    """Make all keys equally long; a comparison of digests tells nothing of the keys."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
