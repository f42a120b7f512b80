// Tables from rows of data: sorted by a click on a column, long ones shown in part until asked.

/// columns: {title, of: row => value to sort by, text: row => what is shown (default: the value), number: right-aligned,
/// note: said when the pointer rests on the title}.
/// options: shown: rows until somebody asks for all; mark(row): in bold; details(row): an element shown below a row that is
/// clicked.
function table(columns, rows, options = {}) {
  const body = element("tbody");
  let order = rows.slice(), by = -1, down = false, limit = options.shown || 50;
  const heads = columns.map((column, i) => {
    const sort = () => {
      down = by === i ? !down : Boolean(column.number);
      by = i;
      render();
    };
    return element("th", {class: "sortable" + (column.number ? " number" : ""), tabindex: 0, scope: "col",
                          title: column.note, onclick: sort,
                          onkeydown: key => key.key === "Enter" && sort()}, column.title);
  });
  const more = element("button", {onclick: () => { limit = Infinity; render(); }});

  function compare(a, b) {
    const [first, second] = [columns[by].of(a), columns[by].of(b)];
    return (first < second ? -1 : first > second ? 1 : 0) * (down ? -1 : 1);
  }
  function cell(column, row) {
    const shown = column.text ? column.text(row) : String(column.of(row));
    const kind = column.number ? "number" : column.wrap ? "text" : undefined;
    return element("td", {class: kind, "data-value": column.number ? column.of(row) : undefined}, shown);
  }
  function rendered(row) {
    const line = element("tr", {class: options.mark && options.mark(row) ? "mark" : undefined}, ...columns.map(c => cell(c, row)));
    if (!options.details)
      return line;
    const toggle = () => {
      if (line.classList.toggle("open"))
        line.after(element("tr", {class: "open"}, element("td", {colspan: columns.length}, options.details(row))));
      else
        line.nextSibling.remove();
    };
    line.classList.add("link");
    line.tabIndex = 0;
    line.addEventListener("click", toggle);
    line.addEventListener("keydown", key => key.key === "Enter" && toggle());
    return line;
  }
  function render() {
    if (by >= 0)
      order = rows.slice().sort(compare);
    heads.forEach((head, i) => head.textContent = columns[i].title + (i === by ? (down ? " \u25be" : " \u25b4") : ""));
    body.replaceChildren(...order.slice(0, limit).map(rendered));
    more.textContent = "show all " + rows.length + " rows";
    more.hidden = rows.length <= limit;
  }
  render();
  return element("div", {}, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body), more);
}

/// p50, p95 and p99 of a policy on a scale that all policies share, with the lower bound.
function range(policy, bound, longest) {
  const at = time => 100 * time / longest + "%";
  const box = element("div", {class: "range"}, element("i"), element("b", {class: "bound"}));
  box.firstChild.style.left = at(policy.p50_s);
  box.firstChild.style.width = at(policy.p99_s - policy.p50_s);
  box.lastChild.style.left = at(bound);
  for (const time of [policy.p50_s, policy.p95_s, policy.p99_s]) {
    const mark = element("b");
    mark.style.left = at(time);
    box.append(mark);
  }
  return box;
}

function policyTable(report) {
  const longest = Math.max(...report.policies.map(p => p.p99_s), report.bound_s) * 1.01;
  const time = (title, key) => ({title, number: true, of: p => p[key], text: p => seconds(p[key])});
  const roles = {[report.before]: " (before)", braid: " (after)"};
  return table([
    {title: "policy", of: p => p.name, text: p => p.name + (roles[p.name] || "")},
    {title: "launches", number: true, of: p => p.collectives},
    time("p50", "p50_s"), time("p95", "p95_s"), time("p99", "p99_s"), time("\u00b1 of p50", "stderr_s"),
    time("objective", "objective_s"), time("exposed", "exposed_s"),
    {title: "peak", number: true, of: p => p.peak_bytes, text: p => bytes(p.peak_bytes)},
    {title: "p50, p95, p99; bound", of: p => p.p50_s, text: p => range(p, report.bound_s, longest)},
  ], report.policies, {mark: p => p.name === "braid" || p.name === report.before});
}

function algorithm(launch) {
  return launch.algorithm + (launch.protocol ? "/" + launch.protocol : "");
}

function fabric(row) {
  return element("span", {class: "fabric"}, element("i", {class: row.fabric}), TRACK_NAMES[row.fabric]);
}

/// A price taken apart, as `braid-sim explain` prints it.
function termTree(term) {
  const line = element("li", {}, term.name + ": " + seconds(term.time_s) + (term.how ? "  (" + term.how + ")" : ""));
  if (term.parts.length)
    line.append(element("ul", {}, ...term.parts.map(termTree)));
  return line;
}

/// Why a launch of the plan is what it is. `row`: of report.plan.
function why(row, remarks) {
  const said = remarks.filter(remark => remark.location === row.location && remark.pass === "braid-plan");
  return element("div", {class: "why"},
    element("div", {}, row.kind + " of " + bytes(row.bytes) + " in " + count(row.tensors, "tensor") + " over " +
      count(row.group_size, "rank") + ": " + algorithm(row) + ", expected " + seconds(row.price_s) + "; " +
      (row.runner_up ? "runner-up " + row.runner_up : "no other candidate") + ". First at " + row.location + "."),
    ...said.map(remark => element("div", {}, remark.text)),
    element("ul", {}, termTree(row.why)));
}

function launchTable(played, plan, remarks) {
  const columns = [
    {title: "#", number: true, of: l => l.number},
    {title: "kind", of: l => l.kind},
    {title: "bytes", number: true, of: l => l.bytes, text: l => bytes(l.bytes)},
    {title: "tensors", number: true, of: l => l.tensors},
    {title: "ranks", number: true, of: l => l.group_size},
    {title: "runs", number: true, of: l => l.runs},
    {title: "fabric", of: l => l.fabric, text: fabric},
    {title: "algorithm", of: algorithm},
    {title: "in flight", number: true, of: l => l.in_flight_s, text: l => seconds(l.in_flight_s),
     note: "all its runs in a step, without noise"},
    {title: "exposed", number: true, of: l => l.exposed_s, text: l => seconds(l.exposed_s),
     note: "how long computation waits for it in a step, without noise"},
  ];
  if (plan)
    columns.push({title: "price", number: true, of: l => plan[l.number].price_s, text: l => seconds(plan[l.number].price_s),
                  note: "expected time of one run, the mean under the fabric's noise"},
                 {title: "runner-up", of: l => plan[l.number].runner_up || "none", note: "the next best choice and its price"});
  else
    columns.push({title: "first collective", wrap: true, of: l => l.name});
  return table(columns, played.launches, plan && {details: l => why(plan[l.number], remarks)});
}
