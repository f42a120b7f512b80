// The page: every number on it is in `report`, which is what `braid-sim report --format json` prints.

const report = JSON.parse(byId("data").textContent);
const [before, after] = ["before", "after"].map(label => report.timelines.find(played => played.label === label));
const policy = name => report.policies.find(p => p.name === name);
const was = policy(report.before), is = policy("braid");
const change = (now, then) => then > 0 ? ((now / then - 1) * 100).toFixed(1).replace("-", "\u2212") + " %" : "";

for (const played of report.timelines)
  played.launches.forEach((launch, number) => launch.number = number);

function showHead() {
  document.title = report.program + " on " + report.cluster + " - Braid report";
  byId("title").textContent = report.program + " on " + report.cluster;
  const pays = report.objective === "training" ? "over jobs of the mean over a job's steps (training)" : "over steps (serving)";
  byId("subtitle").textContent = count(report.ranks, "rank") + ", engine " + report.engine +
    ". Predicted (simulated, not measured). Objective: p" + +(report.quantile * 100).toPrecision(6) + " " + pays + ".";
  const card = (label, value, note) =>
    element("div", {class: "card"}, element("span", {}, label), element("b", {}, value), element("span", {}, note));
  byId("summary").append(
    card("Objective, before", seconds(was.objective_s), was.name + ", " + count(was.collectives, "launch", "launches")),
    card("Objective, after", seconds(is.objective_s), change(is.objective_s, was.objective_s) + ", braid, " +
      count(is.collectives, "launch", "launches")),
    card("Exposed communication", seconds(was.exposed_s) + " \u2192 " + seconds(is.exposed_s), "without noise, before \u2192 after"),
    card("Lower bound", seconds(report.bound_s), report.bound_witness + "; gap " + percent(report.gap) + ", " +
      percent(report.gap_without_noise) + " without noise"));
}

function showTimelines() {
  const view = new View(Math.max(before.total_s, after.total_s));
  const launchOf = new Map();
  for (const played of report.timelines)
    for (const launch of played.launches)
      launchOf.set(played.label + "." + launch.block + "." + launch.bucket, launch);
  const times = event => moment(event.begin_s) + " to " + moment(event.end_s) + ", takes " + seconds(event.end_s - event.begin_s);
  for (const played of [before, after]) {
    const launch = event => launchOf.get(played.label + "." + event.block + "." + event.bucket);
    const lines = event => {
      if (event.waitsFor)
        return ["compute waits", times(event), "for #" + launch(event.waitsFor).number + " " + event.waitsFor.name];
      if (event.track === "compute")
        return [event.name, "compute", times(event)];
      const of = launch(event);
      return [event.name, TRACK_NAMES[event.track] + ", #" + of.number + " " + of.kind + " by " + algorithm(of), times(event),
              "exposed: " + seconds(event.exposed_s)];
    };
    const timeline = new Timeline(played, view, new Tooltip(byId("tooltip"), lines));
    byId("timelines").append(element("div", {class: "timeline", id: played.label},
      element("h3", {}, played.label === "before" ? "Before: " : "After: ", played.policy,
        element("span", {}, " \u2014 step " + seconds(played.total_s) + ", compute " + seconds(played.compute_s) +
          ", exposed " + seconds(played.exposed_s) + ", " + count(played.timeline.length, "event"))),
      timeline.canvas));
  }
  byId("zoom-in").addEventListener("click", () => view.zoom(0.5));
  byId("zoom-out").addEventListener("click", () => view.zoom(2));
  byId("fit").addEventListener("click", () => view.show(0, view.total));
  if (report.timelines.some(played => played.launches.some(launch => launch.runs > 64)))
    byId("timeline-hint").append(" A loop's body is drawn for its first 64 trips; tables count all of them.");
}

function showPolicies() {
  byId("policies").append(policyTable(report));
  byId("policies-hint").textContent = "p50, p95 and p99 are of one step with all draws fresh, \u00b1 is the standard error of p50. " +
    "Objective: what the plan minimises. Exposed and the lower bound (the orange line) know no noise.";
}

function showLaunches() {
  const choices = [["after: " + after.policy, () => launchTable(after, report.plan, report.remarks)],
                   ["before: " + before.policy, () => launchTable(before, null, report.remarks)]];
  const buttons = choices.map(([title, make]) => element("button", {onclick: click => {
    buttons.forEach(button => button.classList.toggle("on", button === click.currentTarget));
    byId("launches").replaceChildren(make());
  }}, title));
  byId("which").append(...buttons);
  buttons[0].click();
}

function list(id, sentences, otherwise) {
  byId(id).append(...(sentences.length ? sentences : [otherwise]).map(sentence => element("li", {}, sentence)));
}

function showReasons() {
  const rivals = report.alternatives.filter(other => !other.same_launches);
  list("reasons", [
    "Winner: " + is.rule + ", " + count(is.collectives, "collective") + ", objective " + seconds(is.objective_s) + ".",
    "Lower bound: no schedule of this program is faster than " + seconds(report.bound_s) + " without noise: " + report.bound_witness + ".",
    "Quantile bound: sampled under the same draws, no schedule has an objective below " + seconds(report.bound_objective_s) +
      ", or a step's p50, p95 and p99 below " + seconds(report.bound_p50_s) + ", " + seconds(report.bound_p95_s) + " and " +
      seconds(report.bound_p99_s) + ".",
    ...(report.compute_noise || []).map(sentence => sentence[0].toUpperCase() + sentence.slice(1) + "."),
    report.margin >= 0 ? "Margin: the best other buckets or algorithms tried lose by " + percent(report.margin) + "."
                       : "No other buckets or algorithms came to the last round.",
    ...rivals.slice(0, 3).map(other => "Lost: " + other.rule + ", " + count(other.collectives, "collective") + ", objective " +
      seconds(other.objective_s) + "."),
    ...report.open_questions.map(question => "The order of collectives is not certified: " + question + "."),
    "Why each collective runs as it does: click its row in the table above.",
  ]);
  list("not-modelled", report.not_modelled, "Nothing that this cluster has.");
  list("assumptions", report.assumptions, "No constant of the cluster file.");
  const ofPlan = remark => remark.pass === "braid-plan"; // before what import says of every collective
  const remarks = [...report.remarks.filter(ofPlan), ...report.remarks.filter(remark => !ofPlan(remark))];
  byId("remarks").append(remarks.length ? table([
    {title: "place", wrap: true, of: r => r.location},
    {title: "pass", of: r => r.pass},
    {title: "kind", of: r => r.kind},
    {title: "remark", wrap: true, of: r => r.text},
  ], remarks, {shown: 15}) : "None.");
  byId("command").textContent = report.command;
}

showHead();
showTimelines();
showPolicies();
showLaunches();
showReasons();
