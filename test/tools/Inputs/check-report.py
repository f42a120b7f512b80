"""check-report.py REPORT.json COMPARE.json PLAY.json [REPORT.html]: a report says what compare and play say."""
import json
import re
import sys

report, compare, play = (json.load(open(path)) for path in sys.argv[1:4])

for key, value in compare.items():
    if key == "plan":  # the report's rows say more
        assert [{k: row[k] for k in value[i]} for i, row in enumerate(report[key])] == value, key
    else:
        assert report[key] == value, f"{key}: expected {value}, got {report[key]}"

before, after = report["timelines"]
assert [before["label"], after["label"]] == ["before", "after"]
assert before["policy"] == compare["before"]
assert {k: after[k] for k in play} == play, "the timeline after is not what play plays"
policies = {p["name"]: p for p in compare["policies"]}
for played in (before, after):
    policy, launches = policies[played["policy"]], played["launches"]
    near = lambda a, b: abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-9)
    assert near(played["total_s"], policy["total_s"]) and near(played["exposed_s"], policy["exposed_s"])
    exposed = sum(l["exposed_s"] for l in launches)
    assert near(exposed, policy["exposed_s"]), f"{played['policy']}: expected {policy['exposed_s']}, got {exposed}"
    assert len(launches) == policy["collectives"] and near(sum(l["runs"] for l in launches), policy["executed"])
    assert all(0 <= l["exposed_s"] <= l["in_flight_s"] * (1 + 1e-9) for l in launches if l["runs"] <= 1), launches
assert [(l["kind"], l["bytes"], l["algorithm"], l["fabric"]) for l in after["launches"]] == \
       [(r["kind"], r["bytes"], r["algorithm"], r["fabric"]) for r in compare["plan"]]
assert all(row["why"]["name"] and row["location"] for row in report["plan"])
assert any(r["pass"] == "braid-plan" and r["name"] == "overlap" for r in report["remarks"])

if len(sys.argv) > 4:
    page = open(sys.argv[4]).read()
    inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    data = json.loads(inside)
    assert {k: v for k, v in data.items() if k != "command"} == {k: v for k, v in report.items() if k != "command"}
    rest = page.replace(inside, "")
    assert not re.search(r"https?:|src=|@import|url\(|<link|fetch\(|XMLHttp", rest), "the page asks for something"
    assert "{{" not in rest, "a part of the page is missing"
