"""Text scores: the words of the question in any script, accents folded, an echo of the question worth nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callosum_mcp.fusion.lexical import fold, query_terms, stem, text_scores
from callosum_mcp.testing import NASTY_QUERIES


@pytest.mark.promise("P28")
@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("适者生存", "达尔文写道适者生存是自然选择", "今天天气很好我们去公园"),
        ("サーバーの再起動", "本番サーバーの再起動は毎週月曜", "犬がソファで寝ている"),
        ("서버 포트", "우리 서버는 포트 8443에서 듣는다", "강아지가 소파에서 잔다"),
        ("พอร์ตของเซิร์ฟเวอร์", "เราตั้งค่าเซิร์ฟเวอร์ไว้ที่พอร์ต 8443", "แมวนอนบนโซฟา"),
        ("ພອດຂອງເຊີບເວີ", "ເຊີບເວີຂອງພວກເຮົາໃຊ້ພອດ 8443", "ແມວນອນຢູ່"),
        ("ច្រកម៉ាស៊ីនមេ", "ម៉ាស៊ីនមេរបស់យើងប្រើច្រក 8443", "ឆ្មាគេង"),
        ("ဆာဗာပေါက်", "ကျွန်ုပ်တို့၏ဆာဗာသည်ပေါက် 8443", "ခွေးလေး"),
        ("सर्वर का पोर्ट", "हमारा सर्वर इस पोर्ट पर चलता है", "बिल्ली सोफे पर सो रही है"),
        ("порт сервера", "какой порт у сервера: порт 8443", "кошка спит на диване"),
        ("cafe munchen", "das Café in München hat neu geöffnet", "ein anderes Haus"),
        ("Düsseldorf", "dusseldorf is where it stands, on the second floor", "it stands in another town"),
    ],
)
def test_every_script_gets_real_text_scores(query: str, right: str, wrong: str) -> None:
    good, bad = text_scores(query, [right, wrong])
    assert good > 0 and good > 3 * bad


@pytest.mark.parametrize("query", NASTY_QUERIES)
def test_no_question_breaks_the_scores(query: str) -> None:
    assert len(text_scores(query, ["a text", "", query, query * 3])) == 4


@given(st.text(max_size=60), st.lists(st.text(max_size=200), max_size=8))
def test_scores_are_never_negative_and_do_not_depend_on_the_order_of_texts(query: str, texts: list[str]) -> None:
    scores = text_scores(query, texts)
    assert all(score >= 0 for score in scores)
    assert text_scores(query, texts[::-1]) == pytest.approx(scores[::-1])


@pytest.mark.parametrize(
    ("text", "is_echo"),
    [
        ("Which database engine does Hermes use in production?", True),
        ("User asked: which database engine does Hermes use in production", True),
        ("database engine Hermes production", True),
        ("database engine of Hermes in production = Postgres 16", False),
        ("Hermes uses Postgres as its database engine; production and staging share the same server", False),
    ],
)
def test_the_question_again_is_no_answer(text: str, is_echo: bool) -> None:
    (score, _) = text_scores("which database engine does Hermes use in production", [text, "something else"])
    assert (score == 0) is is_echo


@pytest.mark.parametrize(
    ("query", "text", "is_echo"),
    [
        ("hermes port", "hermes port = 8443", False),
        ("which database does hermes use", "Hermes uses the Postgres database", False),
        ("hermes status", "hermes status = stopped", False),
        ("hermes status", "what is the hermes status now?", True),
        ("hermes status", "Hermes status", True),
    ],
)
def test_one_word_more_may_be_all_of_a_short_answer(query: str, text: str, is_echo: bool) -> None:
    assert (text_scores(query, [text, "something else"])[0] == 0) is is_echo


def test_words_of_the_question_that_stand_together_count_more() -> None:
    near = "the edge port of the house; far away lie cables and tapes and many other things of this kind, all in boxes"
    far = "the edge of the house; far away lie cables and tapes and many other things of this kind, all in a port box"
    apart = text_scores("edge port", [near, far])
    assert apart[0] > apart[1] > 0


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    scores = text_scores("hermes port", ["hermes is here", "port a", "port b", "port c", "port d"])
    assert scores[0] > max(scores[1:])


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("ports", "port"), ("boxes", "box"), ("classes", "class"), ("bus", "bus"), ("policies", "polici"),
        ("policy", "polici"), ("running", "run"), ("moved", "mov"), ("move", "move"), ("falling", "fall"),
        ("supposedly", "suppos"), ("exactly", "exact"), ("database", "databas"), ("is", "is"), ("größen", "größen"),
    ],
)  # fmt: skip
def test_stems_are_light(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_the_stop_words_of_a_question_are_left_out_unless_there_is_nothing_else() -> None:
    assert list(query_terms("where is the port of hermes")) == [
        "port",
        "herm" if stem("hermes") == "herm" else "hermes",
    ]
    assert list(query_terms("who is it")) == ["who", "is", "it"]
    assert list(query_terms("猫 止损")) == ["猫", "止损"]


@pytest.mark.parametrize(("text", "folded"), [("ÀÉÎ", "aei"), ("한글", "한글"), ("ド", "ド"), ("ﬁn", "fin")])
def test_folding_takes_accents_and_leaves_syllables(text: str, folded: str) -> None:
    assert fold(text) == folded
