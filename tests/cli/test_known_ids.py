"""known.json: it tells of an id whether its label was learned from, and holds no id itself."""

import json

import pytest

from panconv.cli.known_ids import FILE, learned_from, text_of

IDS = ["ann", "=bob\r", "名前", "7"]


def test_what_was_written_is_found_again_without_any_id_in_it(tmp_path):
    text = text_of(IDS)
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert learned_from([*IDS, "carl", "07"], tmp_path) == [True] * 4 + [False] * 2
    assert not [each for each in ("ann", "bob", "名前") if each in text]
    known = json.loads(text)["known"]
    assert known == sorted(known)
    assert len(known) == 4
    assert not set(known) & set(json.loads(text_of(IDS))["known"])  # another salt


def test_a_folder_that_does_not_say(tmp_path):
    assert learned_from(IDS, tmp_path) is None


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "3", "[" * 10**5, '{"salt": "00"}', '{"salt": "xx", "known": []}', '{"salt": 0, "known": []}'),
        *('{"salt": "00", "known": "ab"}', '{"salt": "00", "known": [[]]}', f'{{"salt": "{"00" * 65}", "known": []}}'),
    ],
)
def test_what_is_not_ours_is_refused(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(ValueError, match=r"known\.json is not what panconv fit wrote"):
        learned_from(IDS, tmp_path)
