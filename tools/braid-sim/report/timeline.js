// Timelines on canvases that share one time axis. A row per track. Events narrower than 2 pixels are added up for each pixel,
// and drawn as high as the share of time that they take: at 10,000 events the row is a curve of how busy it is.

const TRACKS = ["compute", "intra", "inter"];
const TRACK_NAMES = {compute: "compute", intra: "intra-host", inter: "inter-host"};
const LEFT = 82, ROW = 26, GAP = 4, AXIS = 20; // CSS pixels

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/// The part of the step that is shown, in seconds. Everybody who draws it is told of changes.
class View {
  constructor(total) {
    this.total = total > 0 ? total : 1;
    this.begin = 0;
    this.end = this.total;
    this.listeners = [];
  }
  show(begin, end) {
    const width = Math.min(this.total, Math.max(this.total * 1e-7, end - begin));
    this.begin = Math.min(Math.max(0, begin), this.total - width);
    this.end = this.begin + width;
    this.listeners.forEach(listener => listener());
  }
  zoom(factor, around = (this.begin + this.end) / 2) {
    this.show(around - (around - this.begin) * factor, around + (this.end - around) * factor);
  }
  move(fraction) {
    const by = (this.end - this.begin) * fraction;
    this.show(this.begin + by, this.end + by);
  }
}

/// First index whose event ends after `time`; events of a row do not overlap.
function firstAfter(row, time) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle].end_s > time)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(played, view, tooltip) {
    this.view = view;
    this.tooltip = tooltip;
    this.rows = {compute: [], intra: [], inter: []};
    for (const event of played.timeline)
      this.rows[event.track].push(event);
    for (const track of TRACKS)
      this.rows[track].sort((a, b) => a.begin_s - b.begin_s);
    // A compute row has gaps where it waits for a collective: its last part, as long as what is exposed.
    this.waits = played.timeline.filter(event => event.exposed_s > 0)
      .map(event => ({begin_s: event.end_s - event.exposed_s, end_s: event.end_s, waitsFor: event}))
      .sort((a, b) => a.begin_s - b.begin_s);
    this.canvas = element("canvas", {tabindex: 0, role: "img", "aria-label": "timeline " + played.label});
    this.listen();
    view.listeners.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.canvas);
  }

  top(track) {
    return AXIS + TRACKS.indexOf(track) * (ROW + GAP);
  }
  x(time) {
    return LEFT + (time - this.view.begin) / (this.view.end - this.view.begin) * (this.width - LEFT);
  }
  time(x) {
    return this.view.begin + (x - LEFT) / (this.width - LEFT) * (this.view.end - this.view.begin);
  }

  drawSoon() {
    if (!this.waiting)
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw() {
    this.width = this.canvas.clientWidth;
    const height = AXIS + TRACKS.length * (ROW + GAP), scale = window.devicePixelRatio || 1;
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(height * scale);
    const context = this.context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    this.drawAxis(height);
    for (const track of TRACKS) {
      context.fillStyle = colour("ground");
      context.fillRect(LEFT, this.top(track), this.width - LEFT, ROW);
      this.drawRow(this.rows[track], this.top(track), colour(track), track);
    }
    this.drawRow(this.waits, this.top("compute"), this.hatch(), null);
    context.clearRect(0, 0, LEFT - 1, height); // what began before the view
    context.fillStyle = colour("ink");
    for (const track of TRACKS)
      context.fillText(TRACK_NAMES[track], 0, this.top(track) + ROW / 2);
  }

  /// Lines at round times, as many as have room for their labels.
  drawAxis(height) {
    const context = this.context, span = this.view.end - this.view.begin;
    const least = span * 110 / Math.max(1, this.width - LEFT), power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= least);
    const digits = Math.max(0, 1 - Math.floor(Math.log10(step / this.unitOf(this.view.end)[0]) + 1e-9) - 1);
    for (let i = Math.ceil(this.view.begin / step); i * step <= this.view.end; ++i) {
      const x = this.x(i * step);
      context.fillStyle = colour("line");
      context.fillRect(x, AXIS - 4, 1, height - AXIS);
      const [factor, unit] = this.unitOf(this.view.end);
      const label = (i * step / factor).toFixed(Math.min(9, digits)) + " " + unit;
      context.fillStyle = colour("soft");
      if (x + 4 + context.measureText(label).width <= this.width)
        context.fillText(label, x + 4, 8);
    }
  }
  unitOf(time) {
    return [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]].find(([factor]) => time >= factor) || [1e-9, "ns"];
  }

  hatch() {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const context = tile.getContext("2d");
    context.strokeStyle = colour("exposed");
    context.lineWidth = 1.6;
    for (const shift of [-6, 0, 6]) {
      context.moveTo(shift - 1, 7);
      context.lineTo(shift + 7, -1);
    }
    context.stroke();
    return this.context.createPattern(tile, "repeat");
  }

  /// `track`: null for waits, which hang from the top of the compute row.
  drawRow(row, y, fill, track) {
    const context = this.context, shares = new Float32Array(this.width + 1);
    let narrow = false;
    context.fillStyle = fill;
    for (let i = firstAfter(row, this.view.begin); i < row.length && row[i].begin_s < this.view.end; ++i) {
      const begin = Math.max(this.x(row[i].begin_s), LEFT), end = Math.min(this.x(row[i].end_s), this.width);
      if (end - begin < 2) {
        narrow = true;
        const first = Math.floor(begin), last = Math.min(Math.floor(end), this.width);
        for (let x = first; x <= last; ++x)
          shares[x] += Math.max(0.01, Math.min(end, x + 1) - Math.max(begin, x));
        continue;
      }
      context.fillRect(begin, y, end - begin - (end - begin > 3 ? 1 : 0), ROW);
      if (track && end - begin > 36)
        this.drawLabel(row[i].name, begin + 5, y + ROW / 2, end - begin - 10, track);
      context.fillStyle = fill;
    }
    for (let x = LEFT; narrow && x < this.width; ++x)
      if (shares[x] > 0) {
        const height = Math.max(2, Math.min(1, shares[x]) * ROW);
        context.fillRect(x, track ? y + ROW - height : y, 1, height);
      }
  }
  drawLabel(text, x, y, room, track) {
    const context = this.context;
    if (context.measureText(text).width > room) {
      let keep = Math.floor(text.length * room / context.measureText(text).width) - 1;
      while (keep > 0 && context.measureText(text.slice(0, keep) + "\u2026").width > room)
        --keep;
      if (keep < 3)
        return;
      text = text.slice(0, keep) + "\u2026";
    }
    context.fillStyle = track === "inter" ? "#ffffff" : colour("ink");
    context.fillText(text, x, y);
  }

  /// What is under a point of the canvas, within 3 pixels; undefined: nothing.
  at(x, y) {
    const track = TRACKS.find(name => y >= this.top(name) && y < this.top(name) + ROW);
    if (!track || x < LEFT)
      return undefined;
    const slack = 3 / (this.width - LEFT) * (this.view.end - this.view.begin), time = this.time(x);
    const distance = event => Math.max(event.begin_s - time, time - event.end_s, 0);
    const near = [this.rows[track], track === "compute" ? this.waits : []].flatMap(row => {
      const i = firstAfter(row, time);
      return row.slice(Math.max(0, i - 1), i + 1);
    });
    near.sort((a, b) => distance(a) - distance(b));
    return near.length && distance(near[0]) <= slack ? near[0] : undefined;
  }

  listen() {
    const canvas = this.canvas, view = this.view;
    let dragged; // where the last drag event was
    canvas.addEventListener("wheel", wheel => {
      if (wheel.ctrlKey || wheel.metaKey)
        view.zoom(Math.exp(wheel.deltaY * 0.003), this.time(Math.max(LEFT, wheel.offsetX)));
      else if (wheel.shiftKey || Math.abs(wheel.deltaX) > Math.abs(wheel.deltaY))
        view.move((wheel.deltaX || wheel.deltaY) / this.width);
      else
        return; // the page scrolls
      wheel.preventDefault();
    }, {passive: false});
    canvas.addEventListener("pointerdown", press => {
      dragged = press.offsetX;
      canvas.setPointerCapture(press.pointerId);
    });
    canvas.addEventListener("pointerup", () => { dragged = undefined; });
    canvas.addEventListener("pointercancel", () => { dragged = undefined; });
    canvas.addEventListener("pointermove", move => {
      if (dragged !== undefined) {
        view.move((dragged - move.offsetX) / (this.width - LEFT));
        dragged = move.offsetX;
        this.tooltip.hide();
      } else {
        this.tooltip.show(this.at(move.offsetX, move.offsetY), move.clientX, move.clientY);
      }
    });
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
    canvas.addEventListener("dblclick", click => view.zoom(0.5, this.time(click.offsetX)));
    canvas.addEventListener("keydown", key => {
      const act = {"+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2),
                   "ArrowLeft": () => view.move(-0.2), "ArrowRight": () => view.move(0.2),
                   "0": () => view.show(0, view.total)}[key.key];
      if (!act || key.ctrlKey || key.metaKey || key.altKey)
        return;
      act();
      key.preventDefault();
    });
  }
}

class Tooltip {
  constructor(box, linesOf) {
    this.box = box;
    this.linesOf = linesOf;
  }
  show(event, x, y) {
    if (!event)
      return this.hide();
    const [title, ...lines] = this.linesOf(event);
    this.box.replaceChildren(element("b", {}, title), ...lines.map(line => element("div", {}, line)));
    this.box.hidden = false;
    const {width, height} = this.box.getBoundingClientRect();
    this.box.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 4)) + "px";
    this.box.style.top = (y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18) + "px";
  }
  hide() {
    this.box.hidden = true;
  }
}
