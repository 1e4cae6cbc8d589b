"""Raw files from a web address: resumed where they broke off, given up at once when the host can't be reached."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial as bound
from pathlib import Path
from urllib.parse import urlsplit

import requests
from tqdm import tqdm

from fedbench.errors import SourceError
from fedbench.sources.cache import keep
from fedbench.sources.kinds import Archive, HttpSource, RawFile

ATTEMPTS = 4
CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
PAUSE_SECONDS = 1.0  # doubled after each attempt
CHUNK = 1 << 16
TRY_AGAIN = {408, 429, 500, 502, 503, 504}


class _InterruptedError(Exception):
    """An attempt failed in a way that another one may mend."""


def obtain(source: HttpSource) -> dict[str, Path]:
    """Return the path of each of the source's files in the cache, downloaded and checked.

    The first file that can't be had ends the attempt, so an unreachable host is asked once.

    Raises:
        SourceError: the host can't be reached, answers with an error, or sends something else.
    """
    return {file.name: keep(file, bound(download, f"{source.at}/{file.name}", file)) for file in source.files}


def download(url: str, file: RawFile | Archive, partial: Path) -> None:
    """Fill ``partial`` with what ``url`` serves, continuing what is already there, up to just over ``file.bytes``.

    Raises:
        SourceError: after the last attempt, or at once when trying again is pointless.
    """
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        try:
            return _attempt(url, file, partial)
        except _InterruptedError as error:
            reason = str(error)
    raise _failure(url, f"{reason} ({ATTEMPTS} attempts)")


def _attempt(url: str, file: RawFile | Archive, partial: Path) -> None:
    start = partial.stat().st_size if partial.exists() else 0
    with _open(url, start) as response:
        if response.status_code in TRY_AGAIN:
            raise _InterruptedError(f"HTTP status {response.status_code}")
        if response.status_code == 416:  # what we have is as long as the file, or longer
            partial.unlink()
            raise _InterruptedError("the server can't continue the file")
        if not response.ok:
            raise _failure(url, f"HTTP status {response.status_code}")
        _receive(response, file, partial, start if response.status_code == 206 else 0)


def _open(url: str, start: int) -> requests.Response:
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        return requests.get(url, headers=headers, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS))
    except requests.RequestException as error:
        raise _failure(url, f"can't reach {urlsplit(url).hostname} ({type(error).__name__})") from error


def _receive(response: requests.Response, file: RawFile | Archive, partial: Path, start: int) -> None:
    total = start + int(response.headers.get("Content-Length", 0)) or None
    bar = tqdm(total=total, initial=start, desc=file.name, unit="B", unit_scale=True, disable=None, leave=False)
    with bar, partial.open("r+b" if start else "wb") as stream:
        stream.seek(start)
        for chunk in _chunks(response):
            stream.write(chunk)
            bar.update(len(chunk))
            if stream.tell() > file.bytes:
                return  # too long: the check of size will say so


def _chunks(response: requests.Response) -> Iterator[bytes]:
    try:
        yield from response.iter_content(CHUNK)
    except requests.RequestException as error:
        raise _InterruptedError(f"the connection broke ({type(error).__name__})") from error


def _failure(url: str, found: str) -> SourceError:
    return SourceError(f"download {url}", found=found, remedy="check the network, or use another source")
