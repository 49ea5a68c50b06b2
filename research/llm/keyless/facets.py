"""Facets: the sides of a subject that a kind of question asks for, and the words that show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from research.text.language import Language

Facet = Literal[
    "compare",
    "limits",
    "number",
    "list",
    "why",
    "when",
    "howto",
    "how",
    "def",
    "yesno",
    "example",
    "topic",
]

ORDER: Mapping[str, tuple[Facet, ...]] = {
    "compare": ("compare", "when", "limits"),
    "limits": ("limits", "how"),
    "number": ("number", "limits"),
    "list": ("list", "def"),
    "why": ("why", "how"),
    "when": ("when", "limits"),
    "howto": ("howto", "limits"),
    "how": ("how", "def", "limits"),
    "def": ("def", "how", "limits"),
    "yesno": ("yesno", "limits"),
    "topic": ("def", "how", "limits"),
}
"""The facets of each kind of question, its own first."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a facet is called and how it sounds in one language.

    `title` and `bare` name it with and without a topic; `more` are words to search with.
    """

    title: str
    bare: str
    intent: str
    more: str
    cue: re.Pattern[str]
    heading: re.Pattern[str]


def _en(title: str, bare: str, intent: str, more: str, cue: str, heading: str) -> Words:
    return Words(
        title, bare, intent, more, re.compile(cue, re.I), re.compile(rf"\b(?:{heading})", re.I)
    )


def _zh(title: str, bare: str, intent: str, more: str, cue: str, heading: str) -> Words:
    return Words(title, bare, intent, more, re.compile(cue, re.I), re.compile(heading, re.I))


_ENGLISH: dict[Facet, Words] = {
    "def": _en(
        "What {} means",
        "What it is",
        "Say what it is and what it is for.",
        "",
        r"\b(?:is|are) (?:an?|the|one|used|defined|designed|intended|called|simply|essentially)\b|"
        r"\brefers? to\b|\bmeans\b|\b(?:allows?|lets?|enables?) (?:you|us|users)\b|\bprovides?\b|"
        r"\brepresents?\b|"
        r"\bknown as\b|\bconsists? of\b| — |\bis Django's\b|\bpurpose\b|\bsimilar to\b",
        r"intro|overview|what |concept|basics|definition|description|about|background|glossary",
    ),
    "how": _en(
        "How {} works",
        "How it works",
        "Explain how it works.",
        "",
        r"\bworks?\b|\bprocess\b|\bfirst\b|\bthen\b|\beach\b|\bcalls?\b|\buses?\b|\binternally\b|"
        r"\bautomatically\b|"
        r"\bby default\b|\bstor(?:es?|ed|ing)\b|\bsends?\b|\bwraps?\b|\bis (?:\w+ )?(?:by|when|"
        r"through)\b|\bwhenever\b|"
        r"\bimplement|\bmechanism\b|\bunder the hood\b|\bbehavio",
        r"how (?!to\b)|internals?|process|mechanism|behavio|overview|under the hood|"
        r"implementation|works|theory",
    ),
    "howto": _en(
        "How to use {}",
        "How to do it",
        "Tell what to do, step by step.",
        "",
        r"\bto \w+[^.]{0,80}, (?:use|set|add|call|create|define|run|you|simply|first|include|"
        r"specify)\b|"
        r"\byou(?:'ll| will)? (?:can|should|must|need|have to|may)\b|^(?:first|next|then)?,? "
        r"?(?:use|set|add|call|create|"
        r"define|run|subclass|install|put|specify|import|include|make|write|override|configure|"
        r"pass)\b|"
        r"\bby (?:setting|calling|using|adding|defining|running|creating|subclassing)\b|"
        r"\brecommended\b|\bstep\b",
        r"how to|using|creat|writ|sett?ing up|configur|usage|tutorial|getting started|install|"
        r"deploy|custom|"
        r"specifying|defin|enabl|adding|making|quick ?start",
    ),
    "when": _en(
        "When to use {}",
        "When it matters",
        "Say when it applies and when it is needed.",
        "when should",
        r"\bwhen(?:ever)?\b|\bif (?:you|your|the)\b|\b(?:in|for) (?:this|that|which|some|these|"
        r"most) cases?\b|\bshould\b|"
        r"\bbefore\b|\bafter\b|\brecommended\b|\buseful\b|\bmust\b|\bunless\b|\buntil\b|\bbest\b|"
        r"\bsuitable\b|\bideal\b|"
        r"\bonly (?:when|if)\b|\bperiodically\b|\bneed(?:ed|s)?\b|\bappropriate\b|\bevery\b|"
        r"\bworth",
        r"when |should|choos|use cases|considerations|before|recommend|requirements",
    ),
    "why": _en(
        "Why {} is needed",
        "Reasons",
        "Give the reasons.",
        "because reason",
        r"\bbecause\b|\bsince\b|\breasons?\b|\bin order to\b|\bso that\b|\bto (?:avoid|prevent|"
        r"protect|ensure|allow|reduce|"
        r"improve|help|guarantee|keep)\b|\btherefore\b|\bthus\b|\bdue to\b|\botherwise\b|"
        r"\badvantages?\b|\bbenefits?\b|"
        r"\bprotects?\b|\bprotection\b|\bmakes? it (?:easy|possible|easier)\b|\bwithout\b|"
        r"\battack|\bproblem\b",
        r"why|rationale|reason|motivation|philosophy|benefit|purpose|advantage",
    ),
    "limits": _en(
        "Limits of {}",
        "Limits and cautions",
        "Name limits, risks and exceptions.",
        "limitations caveats",
        r"\bnot\b|n't\b|\bcannot\b|\bonly\b|\blimit|\brestrict|\bunsupported\b|\bcaveats?\b|"
        r"\bhowever\b|\bwarning\b|"
        r"\bcareful|\bbeware\b|\bdrawback|\bdisadvantage|\bpenalt|\bexpensive\b|\bslow|"
        r"\braises?\b|\berror|\bignored\b|"
        r"\bexcept\b|\bat most\b|\bmaximum\b|\bno effect\b|\bdifficult|\bhard(?:er)? to\b|\brisk|"
        r"\bcost\b|\boverhead\b|\bnever\b",
        r"limit|caveat|restriction|warning|drawback|performance|known issue|compatib|"
        r"disadvantage|pitfall|beware|"
        r"downside|penalt|avoid|consideration|notes?\b|careful|unsupported|cautions?",
    ),
    "number": _en(
        "Figures for {}",
        "Figures",
        "Give the figures.",
        "limit",
        r"\d",
        r"limits?\b|size|requirements|versions?|defaults?|prerequisite",
    ),
    "list": _en(
        "{}: what there is",
        "What there is",
        "List what there is.",
        "",
        r"\bfollowing\b|\binclud|\bsuch as\b|\bseveral\b|\bsupports?\b|\btypes?\b|\bkinds?\b|"
        r"\boptions?\b|"
        r",[^,]+,[^,]+\band\b|\beither\b|\bavailable\b|\bbuilt-in\b|\bofficially\b|\bprovides\b|"
        r"\bships? with\b",
        r"types|kinds|options|list|available|supported|built-in|reference|overview|backends|levels",
    ),
    "compare": _en(
        "{} compared",
        "The difference",
        "Say how they differ.",
        "difference",
        r"\bunlike\b|\bwhereas\b|\bwhile\b|\binstead\b|\bdiffer|\bon the other hand\b|"
        r"\bcompared\b|\bin contrast\b|"
        r"\bbut\b|\brather than\b|\bsame\b|\bboth\b|\bsimilar\b|\bhowever\b|\bfaster\b|"
        r"\bslower\b|\bmore\b|\bless\b|\bonly\b",
        r"differen|compar|versus|vs\b|choosing",
    ),
    "yesno": _en(
        "{}: yes or no",
        "Whether it does",
        "Say whether it does.",
        "",
        r"\bsupports?\b|\bdoes not\b|n't\b|\bcan\b|\bcannot\b|\bpossible\b|\ballowed\b|\byes\b|"
        r"\bno\b|\bnever\b|\bonly\b",
        r"support|can |does ",
    ),
    "example": _en(
        "Examples of {}",
        "Examples",
        "Give an example.",
        "for example",
        r"\bfor example\b|\be\.g\.|\bsuch as\b|\bfor instance\b",
        r"example",
    ),
    "topic": _en("{}", "Overview", "Tell what matters about it.", "", r"(?!)", r"(?!)"),
}

_CHINESE: dict[Facet, Words] = {
    "def": _zh(
        "{}是什么",
        "它是什么",
        "说明它是什么、有什么用。",
        "",
        "是(?:一|指|用|由|为|在|Debian|一个|一种)|指的是|称为|叫做|即|用于|用来|负责|职责|包含|包括|由.{1,20}组成|提供|意味着",
        "什么是|概述|简介|介绍|定义|概念|定位|职责|基础|动机",
    ),
    "how": _zh(
        "{}如何工作",
        "它如何工作",
        "说明它如何工作。",
        "",
        "通过|首先|然后|接着|再|将|会|使用|自动|调用|默认|机制|流程|每|负责|当.{1,30}时|把.{1,30}放|写入|返回",
        "如何|怎么|机制|流程|原理|内部|实现|工作|过程|数据流|规则|逻辑",
    ),
    "howto": _zh(
        "怎样使用{}",
        "怎样做",
        "说明具体做法。",
        "",
        "可以|使用|运行|命令|执行|需要|应该|设置|配置|安装|请|添加|编辑|通过|首先|推荐|建议",
        "如何|怎样|怎么|使用|配置|安装|设置|步骤|方法|管理|指南|教程",
    ),
    "when": _zh(
        "何时使用{}",
        "适用的情况",
        "说明什么时候适用、什么时候需要。",
        "",
        "当|如果|若|时候|情况|场景|应该|应当|建议|推荐|适合|之前|之后|需要|必须|除非|否则|只有",
        "何时|时候|情况|场景|适合|选择|建议",
    ),
    "why": _zh(
        "为什么需要{}",
        "原因",
        "说明原因。",
        "原因",
        "因为|由于|原因|为了|从而|以便|因此|所以|否则|避免|防止|保证|优点|好处|目的|意味着|解耦|降低|这样|使得|根本",
        "为什么|原因|动机|目的|理由|权衡|拒绝|设计|考虑",
    ),
    "limits": _zh(
        "{}的限制",
        "限制与注意事项",
        "说明限制、风险和例外。",
        "限制 注意",
        "不能|不会|不可|不支持|无法|没有|只能|仅|限制|但是|但|然而|注意|警告|小心|风险|缺点|错误|除外|除了|例外|不应|不要|不建议|避免",
        "限制|注意|警告|风险|局限|约束|问题|缺点|边界|错误",
    ),
    "number": _zh(
        "{}的数值",
        "数值",
        "给出数值。",
        "限制",
        r"\d|[一二三四五六七八九十百千万]+[个种条次]",
        "大小|数量|版本|限制",
    ),
    "list": _zh(
        "{}有哪些",
        "有哪些",
        "列出有哪些。",
        "",
        "包括|包含|如下|以下|例如|分为|有.{0,6}种|支持|、.{1,30}、|分别|类型|种类|目前",
        "类型|种类|列表|哪些|支持|总览|有多少|概览",
    ),
    "compare": _zh(
        "{}的区别",
        "区别",
        "说明它们的区别。",
        "区别",
        "而|不同|区别|相比|但|则|另一方面|相对|更|反之|相反|都|只|之间|分别|基于|比",
        "区别|不同|比较|对比|选择|还是|更适合|哪一个|关系",
    ),
    "yesno": _zh(
        "{}：是否",
        "是否如此",
        "说明是否如此。",
        "",
        "可以|能|不能|不会|支持|是的|不是|没有|有|不",
        "支持|能否|是否|可以",
    ),
    "example": _zh("{}的例子", "例子", "举例说明。", "例如", "例如|比如|譬如", "例|示例"),
    "topic": _zh("{}", "概述", "说明要点。", "", "(?!)", "(?!)"),
}

WORDS: Mapping[Language, Mapping[Facet, Words]] = {"en": _ENGLISH, "zh": _CHINESE}


def facet_of_intent(intent: str) -> Facet | None:
    """Return the facet whose intent a task carries, None if it is somebody's own words."""
    for words in WORDS.values():
        for facet, its in words.items():
            if its.intent == intent.strip():
                return facet
    return None
