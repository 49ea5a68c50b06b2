"""How each facet is called, and how it sounds, in English."""

from __future__ import annotations

import re

from research.llm.keyless.facet import Facet, Words


def _words(title: str, intent: str, more: str, cue: str, heading: str) -> Words:
    return Words(title, intent, more, re.compile(cue, re.I), re.compile(rf"\b(?:{heading})", re.I))


ENGLISH: dict[Facet, Words] = {
    "def": _words(
        "What {} means",
        "Say what it is and what it is for.",
        "",
        r"\b(?:is|are) (?:an?|the|one|used|defined|designed|intended|called|simply|essentially)\b|"
        r"\brefers? to\b|\bmeans\b|\b(?:allows?|lets?|enables?) (?:you|us|users)\b|\bprovides?\b|"
        r"\brepresents?\b|"
        r"\bknown as\b|\bconsists? of\b| — |\bis Django's\b|\bpurpose\b|\bsimilar to\b",
        r"intro|overview|what |concept|basics|definition|description|about|background|glossary",
    ),
    "how": _words(
        "How {} works",
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
    "howto": _words(
        "How to use {}",
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
    "when": _words(
        "When to use {}",
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
    "why": _words(
        "Why {} is needed",
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
    "limits": _words(
        "Limits of {}",
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
    "number": _words(
        "Figures for {}",
        "Give the figures.",
        "limit",
        r"\d",
        r"limits?\b|size|requirements|versions?|defaults?|prerequisite",
    ),
    "list": _words(
        "{}: what there is",
        "List what there is.",
        "",
        r"\bfollowing\b|\binclud|\bsuch as\b|\bseveral\b|\bsupports?\b|\btypes?\b|\bkinds?\b|"
        r"\boptions?\b|"
        r",[^,]+,[^,]+\band\b|\beither\b|\bavailable\b|\bbuilt-in\b|\bofficially\b|\bprovides\b|"
        r"\bships? with\b",
        r"types|kinds|options|list|available|supported|built-in|reference|overview|backends|levels",
    ),
    "compare": _words(
        "{} compared",
        "Say how they differ.",
        "difference",
        r"\bunlike\b|\bwhereas\b|\bwhile\b|\binstead\b|\bdiffer|\bon the other hand\b|"
        r"\bcompared\b|\bin contrast\b|"
        r"\bbut\b|\brather than\b|\bsame\b|\bboth\b|\bsimilar\b|\bhowever\b|\bfaster\b|"
        r"\bslower\b|\bmore\b|\bless\b|\bonly\b",
        r"differen|compar|versus|vs\b|choosing",
    ),
    "yesno": _words(
        "{}: yes or no",
        "Say whether it does.",
        "",
        r"\bsupports?\b|\bdoes not\b|n't\b|\bcan\b|\bcannot\b|\bpossible\b|\ballowed\b|\byes\b|"
        r"\bno\b|\bnever\b|\bonly\b",
        r"support|can |does ",
    ),
    "topic": _words("{}", "Tell what matters about it.", "", r"(?!)", r"(?!)"),
}
