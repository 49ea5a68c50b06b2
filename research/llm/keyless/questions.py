"""What kind of question it is, and what it is about, by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from research.text.language import language

Kind = Literal[
    "compare", "limits", "number", "list", "why", "when", "howto", "how", "def", "yesno", "topic"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_AUX = r"(?:do|does|did|is|are|was|were|can|could|should|shall|must|will|would|may|has|have|had)"
_RULES: dict[str, list[tuple[Kind, str]]] = {
    "en": [
        ("how", r"what happens (?:when|if|to|after)"),
        ("why", r"^(?:and )?why\b"),
        ("when", r"^(?:and )?when\b"),
        (
            "compare",
            r"\bdiffer(?:s|ent|ences?)?\b|\bversus\b|\bvs\b|\bcompar(?:e|ed|ison)\b|\bbetter than\b"
            r"|\binstead of\b.*\?|\bcontrast\b",
        ),
        (
            "limits",
            r"\b(?:limits?|limitations?|restrictions?|drawbacks?|downsides?|disadvantages?|"
            r"caveats?|risks?|"
            r"pitfalls?|penalt(?:y|ies)|trade-?offs?|problems? with|dangers?|"
            r"constraints? (?:of|on))\b"
            r"(?! (?:of|on) (?:a )?(?:\w+ )?(?:size|length)\b)",
        ),
        (
            "number",
            r"\bhow (?:many|much|long|large|big|fast|often|old|far|high)\b|\b(?:maximum|minimum|"
            r"max|min|"
            r"size|length|default (?:value|port|size|limit)|default of|versions?)\b",
        ),
        (
            "list",
            rf"^(?:and )?(?:which|list|name)\b|\bwhat (?:kinds?|types?|sorts?|options?|ways|"
            rf"formats?|"
            rf"methods?)\b|\bwhat (?:\w+ ){{1,4}}(?:are there|{_AUX} \w+ (?:support|provide|"
            rf"offer|have))",
        ),
        (
            "why",
            r"\bwhy\b|\bwhat (?:is|are) the (?:reasons?|purpose|point|benefits?|advantages?)\b|"
            r"\breasons? for\b",
        ),
        (
            "when",
            r"\bin (?:which|what) (?:cases?|order)\b|\bunder (?:which|what)\b|"
            r"\bat what point\b",
        ),
        (
            "howto",
            rf"\bhow {_AUX} (?:i|we|you|one)\b|\bhow to\b|^(?:and )?where (?:do|can|should) (?:i|"
            rf"we|you)"
            r"|\bwhat (?:steps|(?:do|should|must|can) (?:i|we|you|one))\b|\bsteps to\b",
        ),
        ("how", r"\bhow\b|\bwhat happens\b|\bin what way\b"),
        ("def", rf"\bwhat(?:'s| {_AUX})\b|\b(?:define|explain|describe|meaning of)\b|\bwho\b"),
        ("yesno", rf"^(?:and )?{_AUX}(?:n't)?\b"),
    ],
    "zh": [
        ("compare", r"区别|差别|不同|差异|相比|对比|比较|还是.{1,20}[？?]|异同"),
        ("limits", r"限制|局限|缺点|风险|注意事项|不足|问题有|代价|弊端|约束|陷阱"),
        ("number", r"多少|多大|多长|多久|几[个种次条]|最大|最小|上限|默认值|版本号|多快"),
        ("list", r"哪些|哪几|有什么(?:类型|种类|方式|方法|功能|选项)|列出|列举|包括什么|有几种"),
        ("why", r"为什么|为何|为啥|原因|理由|目的是|好处|优点|凭什么"),
        ("when", r"何时|什么时候|什么情况|哪种情况|什么场景|时机"),
        (
            "howto",
            r"(?:如何|怎么|怎样|怎么样)(?:才能|去|来)?(?:使用|用|配置|安装|创建|编写|设置|升级|备份|部署|启用|添加|删除|查看|获取|建立|实现|避免|"
            r"处理|管理|运行|测试|写|做|改|查|找|加)",
        ),
        ("how", r"如何|怎么|怎样|怎么样|原理|机制|流程|会怎"),
        ("def", r"什么是|是什么|何谓|什么意思|含义|定义|介绍|解释|什么叫|作用|职责|关系"),
        ("yesno", r"是否|能否|可否|吗[？?]?$|可不可以|能不能|会不会|有没有"),
    ],
}
_COMPILED = {
    tag: [(kind, re.compile(rule, re.I)) for kind, rule in rules] for tag, rules in _RULES.items()
}

_SPLIT = {
    "en": re.compile(
        rf",? and (?=(?:(?:in|at|under|for|by) )?(?:when|how|why|what|which|where|who|{_AUX})\b)|"
        rf"[?;] +(?=\w)|,? but (?=how|why|what)",
        re.I,
    ),
    "zh": re.compile(
        "[，,；;？?。]\\s{0,2}(?:又|并且|而且|以及|还有|那么|那)?(?=为什么|为何|如何|怎么|怎样|什么时候|何时|哪|有什么|是否|有哪|什么是|它|能否)"
        "|(?:以及|并且|和)(?=为什么|如何|怎么|怎样|什么时候|何时|有哪些|有什么|是否)"
    ),
}
_LEAD = re.compile(
    rf"^(?:and |but |so |please |tell me |explain )*(?:(?:in|at|under|for|by) )?"
    rf"(?:what(?:'s)?|which|how|why|when|where|who)?\s*(?:many|much|long|large|big|often)?\s*"
    rf"(?:{_AUX}(?:n't| not)?)?\s*(?:i|we|you|one|it|they)?\b\s*",
    re.I,
)
_OF = re.compile(
    r"^(?:the |an? )?(?:main |key |most important |maximum |minimum |default )?"
    r"(?:limits?|limitations?|differences?|restrictions?|drawbacks?|risks?|penalties|purpose|"
    r"reasons?|"
    r"advantages?|benefits?|meaning|role|definition|use|size|length|number|value|point|types?|"
    r"kinds?|caveats?)"
    r" (?:of|between|for|with|in|on)\b\s*(?:using )?",
    re.I,
)
_TAIL = re.compile(
    r"\s+(?:works?|mean|means|do|does|needed|need|used|run|happen|happens|possible|available|"
    r"look like|"
    r"differ|evaluated|handled|protect(?:ed)?|be|refreshed|kept|there)$",
    re.I,
)
_SUBJECT = re.compile(rf"(?<=\w) {_AUX} [\w .'-]{{2,40}}$", re.I)
_VERB = re.compile(
    r"^(?:use|make|create|write|handle|store|support|provide|deploy|test|configure|set ?up|add|"
    r"run|get|"
    r"build|define|prevent|avoid|protect|enable|disable|install|implement|choose|not|sure that|"
    r"officially|properly|safely|correctly|partition|change|update|upgrade|delete|remove)\s+",
    re.I,
)
_BETWEEN = re.compile(r"\s+(?:and|versus|vs\.?|or|from|with|to)\s+|\s*,\s*", re.I)
_AND = re.compile(r"\s+(?:and|or)\s+|\s*,\s*(?:and\s+)?", re.I)
_ARTICLE = re.compile(r"^(?:the|an?|my|your|our|some|any|plain)\s+", re.I)
_ZH_NOISE = re.compile(
    "什么时候|什么情况下?|为什么|为何|什么是|是什么意思|是什么|什么意思|如何|怎么样|怎么|怎样|有哪些|哪些|从何而来|从哪里来|哪个|多少|"
    "有什么|什么|有哪些|有哪|哪里|何时|是否|能否|可以|应该|区别|差别|不同|差异|关系|职责|作用|原因|会|吗|呢|请问|请"
)
_ZH_JOIN = re.compile("[、，,]|和|与|跟|同|还是|及")


@dataclass(frozen=True, slots=True)
class Part:
    """One question in the question."""

    text: str
    kind: Kind
    topic: str
    entities: tuple[str, ...]

    @property
    def phrase(self) -> str:
        """Return the topic with the article that it has in the question."""
        return self.with_article(self.topic)

    def with_article(self, name: str) -> str:
        """Return a name with the article that it has in the question."""
        found = re.search(rf"\b(?:the|an?) (?={re.escape(name)}(?!\w))", self.text, re.I)
        return found[0].lower() + name if found and name else name


def kind_of(text: str, tag: str | None = None) -> Kind:
    """Return what kind of question a text is, `topic` if it is none."""
    said = text.strip()
    for kind, rule in _COMPILED[tag or language(said)]:
        if rule.search(said):
            return kind
    return "topic"


def _topic_en(text: str, kind: Kind) -> str:
    said = re.sub(r"\s+", " ", text).strip(" ?!.")
    said = _LEAD.sub("", said, count=1) if kind != "topic" else said
    if kind in ("list", "number"):
        said = _SUBJECT.sub("", said, count=1)
    said = _OF.sub("", said, count=1)
    said = _TAIL.sub("", said)
    for _ in range(2):
        said = _ARTICLE.sub("", _VERB.sub("", said, count=1), count=1)
    return said.strip(" ?,.")


def _topic_zh(text: str) -> str:
    said = _ZH_NOISE.sub(" ", text.strip(" ？?。！"))
    said = re.sub(r"\s+(?:的|是|在|有|里|中)\s*|(?:的|是|有|在)\s*(?=\s|$)", " ", said)
    return re.sub(r"[\s的]+$|^[\s的是在有]+", "", re.sub(r"\s+", " ", said)).strip(" ，,")


def _entities(topic: str, kind: Kind, tag: str) -> tuple[str, ...]:
    """Return the things a comparison or an "A and B" is about; none if it is about one."""
    if tag == "zh":
        pieces = [piece.strip(" 的里中") for piece in _ZH_JOIN.split(topic)]
    else:
        joint = _BETWEEN if kind == "compare" else _AND
        pieces = [_ARTICLE.sub("", piece.strip(" ?,.")) for piece in joint.split(topic)]
    pieces = [piece for piece in pieces if piece]
    if not 2 <= len(pieces) <= 4 or (kind != "compare" and len(topic.split()) > 6):
        return ()
    return tuple(pieces)


def parts(question: str) -> list[Part]:
    """Return the questions that a question asks, in order; at least one."""
    tag = language(question)
    found = []
    for piece in _SPLIT[tag].split(question):
        said = piece.strip(" ,，；;。.")
        if len(said) < 2:
            continue
        kind = kind_of(said, tag)
        topic = _topic_zh(said) if tag == "zh" else _topic_en(said, kind)
        if kind == "compare" and tag == "en":
            topic = re.sub(
                r"^(?:difference between|how|does)\s+|\s+(?:differ|different)\b",
                "",
                topic,
                flags=re.I,
            )
        found.append(Part(said, kind, topic, _entities(topic, kind, tag)))
    if not found:
        said = question.strip() or "?"
        found.append(Part(said, "topic", said, ()))
    return found[:4]
