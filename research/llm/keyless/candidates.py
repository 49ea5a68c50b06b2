"""The sentences and table rows of the passages found, as they may be quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from research.llm.keyless.evidence import Evidence, Found
from research.text.clean import is_cjk
from research.text.sentences import Sentence, sentences
from research.text.tokens import content

MAX_CHARS = 520
MIN_TOKENS = 4

_DANGLING = re.compile(
    r"(?:this|these|that|those|it|its|they|their|he|she|such|however|also|therefore|thus|hence|"
    r"instead|"
    r"then|so|but|and|or|nor|yet|otherwise|furthermore|moreover|additionally|similarly|likewise|"
    r"consequently|accordingly|"
    r"for example|for instance|in (?:this|that|these|such|both|either|addition|"
    r"other) |"
    r"as (?:a result|such|above|mentioned|described|shown|previously|noted|stated|discussed|"
    r"before|always)|on the other hand|note that this|again|finally|"
    r"the (?:former|latter|above|same|following|second|third|next|other|previous)|here|there,|both|"
    r"either|another|one of (?:these|them)|doing (?:so|this)|if (?:this|it|so|not)|when this|"
    r"once this|"
    r"to do (?:this|so)|after (?:this|that)|with this|at this|by doing|for this|because of this)\b",
    re.I,
)
_DANGLING_ZH = re.compile(
    "这|该|其(?!他|它|实)|它|此|但|而且|而(?!是)|然而|因此|所以|另外|此外|同时|于是|否则|不过|并且|并(?!行|发)|也|还|"
    "上述|如上|以上|那么|那|他们|他|她|例如|比如|即|接着|然后|最后|再|反之|相反|换句话说|也就是说|同样"
)
_FRAGMENT = re.compile(r"[,，、(（]\Z|\b(?:and|or|the|of|to|a|an|in|with|e\.g|i\.e)\.?\Z")
_DEBRIS = re.compile(
    r"::|:[a-z]+:`|``|\.\. |</?[a-z]+[ >/]|\{\{|\}\}|\{%|%\}|>>>|=>|\$ |&&|\|\||\\n|→|⇒|\bdef "
    r"\w+\(|"
    r"^\s*(?:import|from) \w|\b[A-Za-z_]\w* = \w|\(self\b|^[#$>]|\w\(\*{1,2}\w|\"\"\"|\[\d{1,3}\]|"
    r"-> \w+:"
)
_BRACKETS = (("(", ")"), ("（", "）"), ("[", "]"), ("“", "”"), ("「", "」"))
_SYMBOL = re.compile(r"[^\w\s.,;:!?'’“”\"()\-，。；：！？、（）《》「」…—–/%]")
_END = re.compile(r"[.!?。！？；;][\"'”’)）」』\]]*\Z")
_ELSEWHERE = re.compile(
    r"\b(?:above|below|as follows|like (?:this|so)|(?:in|with) this (?:manner|way|case)|the "
    r"following|previous(?:ly)? (?:section|example|described|mentioned)|"
    r"(?:this|next|last) (?:section|document|page|chapter|example|tutorial|part)|of this case|"
    r"(?:Table|Figure|Section|Example|Chapter) \d+(?:\.\d+)*|step \d)\b|"
    r"上述|如上|如下|下面|上文|下文|下图|上图|本节|本章",
    re.I,
)
_SEE = re.compile(
    r"[^.:]{1,60}: see |"
    r"(?:for (?:more|further|details|a (?:full|complete)|an? )[^.]{0,80}, )?(?:please )?see (?!if)|"
    r"(?:more|further) (?:information|details)\b|information (?:on|about)\b|"
    r"(?:请)?(?:参见|参阅|参考|请见|查看第|详见)|欲(?:了解|知)|阅读[^。]{0,80}(?:了解|获得|获取|获知|一节)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quote: `[start:end]` of its source's text, of a passage, in a line of it."""

    passage: Found
    at: int
    to: int
    sentence: Sentence | None
    index: int
    words: frozenset[str]

    @property
    def text(self) -> str:
        """Return the words of the quote as the source has them."""
        return self.passage.text[self.at : self.to]

    @property
    def is_item(self) -> bool:
        """Tell whether it is an item of a list."""
        return self.sentence is not None and self.passage.text[: self.at].endswith("- ")

    @property
    def start(self) -> int:
        """Return where it starts in its source."""
        return self.passage.start + self.at

    @property
    def end(self) -> int:
        """Return where it ends in its source."""
        return self.passage.start + self.to


def is_dangling(text: str) -> bool:
    """Tell whether a sentence leans on the one before it."""
    return bool(_DANGLING.match(text) or _DANGLING_ZH.match(text))


def is_debris(text: str) -> bool:
    """Tell whether a sentence is code, markup or a piece of a sentence."""
    return bool(_DEBRIS.search(text) or _FRAGMENT.search(text))


def is_code(text: str) -> bool:
    """Tell whether a sentence is a listing; one in Chinese words about code is not."""
    return is_debris(text) and sum(map(is_cjk, text)) * 5 < len(text)


def symbol_share(text: str) -> float:
    """Return the share of characters that prose does without."""
    return len(_SYMBOL.findall(text)) / max(len(text), 1)


def has_end(text: str) -> bool:
    """Tell whether a sentence ends as one."""
    return bool(_END.search(text))


def opens_as_pointer(text: str) -> bool:
    """Tell whether a sentence says "see there" from its start."""
    return bool(_SEE.match(text))


def is_pointer(text: str) -> bool:
    """Tell whether a sentence only sends the reader elsewhere."""
    return bool(_SEE.match(text)) or (len(text) < 140 and bool(_SEE.search(text)))


def points_elsewhere(text: str) -> bool:
    """Tell whether a sentence speaks of a place in its document that the reader does not see."""
    return bool(_ELSEWHERE.search(text))


def is_unbalanced(text: str) -> bool:
    """Tell whether a sentence opens or closes a bracket alone."""
    return any(text.count(a) != text.count(b) for a, b in _BRACKETS)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield start, start + len(line)
        start += len(line) + 1


def candidates(evidence: Evidence) -> list[Candidate]:
    """Return all quotes of a sensible length; overlapping passages give each only once."""
    seen: set[tuple[int, int]] = set()
    found: list[Candidate] = []
    for passage in evidence.passages:
        spans: list[tuple[int, int, Sentence | None, int]]
        if passage.row:
            spans = [(at, to, None, index) for index, (at, to) in enumerate(_lines(passage.text))]
        else:
            spans = [
                (item.start, item.end, item, index)
                for index, item in enumerate(sentences(passage.text))
            ]
        for at, to, sentence, index in spans:
            key = (passage.source, passage.start + at)
            if key in seen or to - at > MAX_CHARS:
                continue
            seen.add(key)
            words = content(passage.text[at:to])
            brief = sentence is None or passage.text[to - 1] in ":："  # a row, a lead of a list
            if len(words) >= (2 if brief else MIN_TOKENS):
                found.append(Candidate(passage, at, to, sentence, index, words))
    return found
