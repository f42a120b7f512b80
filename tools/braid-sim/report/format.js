// Quantities as Braid's tools print them, and elements without markup from data.

function threeDigits(value) {
  const magnitude = Math.abs(value);
  return value.toFixed(magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0);
}

/// The unit is the largest that leaves at least one (after rounding) before the point.
function scaled(value, digits) {
  const scales = [[1e-9, "ns"], [1e-6, "us"], [1e-3, "ms"], [1, "s"]];
  let i = 0;
  while (i + 1 < scales.length && Math.abs(value) >= 0.9995 * scales[i + 1][0])
    ++i;
  return digits(value / scales[i][0]) + " " + scales[i][1];
}

function seconds(value) {
  return value === 0 ? "0 s" : scaled(value, threeDigits);
}

/// A point in time, which needs more digits than how long something takes.
function moment(value) {
  return value === 0 ? "0 s" : scaled(value, number => number.toFixed(4));
}

function bytes(value) {
  if (value < 1024)
    return value + " B";
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (i + 1 < units.length && value >= 1024 ** (i + 2))
    ++i;
  return (value / 1024 ** (i + 1)).toFixed(1) + " " + units[i];
}

function percent(fraction) {
  return (fraction * 100).toFixed(1) + " %";
}

function count(number, noun, nouns = noun + "s") {
  return number + " " + (number === 1 ? noun : nouns);
}

/// element("td", {class: "number"}, "text", otherElement, ...): text is never read as markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on"))
      made.addEventListener(key.slice(2), value);
    else if (value !== undefined)
      made.setAttribute(key, value);
  made.append(...children.filter(child => child !== undefined));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}
