// The checks of TestPageInBrowser, which run in the page. Each returns what is
// wrong, in words.

// figures compares the text of each element with data-json to the number at
// that path of the report. A list stands for its sum. Go's counts can be above
// what a double holds, so whole numbers are read as BigInt.
function figures(raw) {
  const report = JSON.parse(raw, (key, value, context) =>
    typeof value === "number" && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value);
  const wrong = [], all = document.querySelectorAll("[data-json]");
  for (const element of all) {
    const path = element.dataset.json;
    let want = path.split(".").reduce((at, name) => at?.[name], report);
    if (Array.isArray(want)) want = want.reduce((sum, n) => sum + n, 0n);
    const text = element.textContent.replaceAll("\u202f", "");
    if (typeof want !== "bigint" || !/^\d+$/.test(text) || BigInt(text) !== want) {
      wrong.push(`${path}: the page has "${element.textContent}", the report ${want}`);
    }
  }
  return {Count: all.length, Wrong: wrong, JSON: document.getElementById("json").textContent};
}

// layout opens everything, and looks for text that is cut off, overlaps or has
// too little contrast.
function layout() {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const wrong = [], root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const widest = [...document.body.querySelectorAll("*")].map(e => [e.getBoundingClientRect().right, e.outerHTML.slice(0, 80)]).sort((a, b) => b[0] - a[0])[0];
    wrong.push(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}, up to ${widest}`);
  }
  let texts = 0;
  for (const element of document.body.querySelectorAll(":not(rect, title)")) {
    const text = [...element.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join("").trim();
    const box = element.getBoundingClientRect();
    if (text === "" || box.width === 0) continue;
    texts++;
    const about = `<${element.localName} class="${element.getAttribute("class") ?? ""}"> "${text.slice(0, 40)}"`;
    if (!element.closest(".scroll, pre") && (box.left < 0 || box.right > root.clientWidth + 0.5)) {
      wrong.push(`${about} leaves the window: ${box.left} to ${box.right} of ${root.clientWidth}`);
    }
    const style = getComputedStyle(element);
    const ratio = contrast(element.closest("svg") ? style.fill : style.color, background(element));
    if (!(ratio >= 4.5)) wrong.push(`${about} has a contrast of ${ratio}`);
  }
  for (const shape of document.querySelectorAll("svg .admitted, svg .refused, svg .shadow, .fill")) {
    const style = getComputedStyle(shape);
    const ratio = contrast(shape.closest("svg") ? style.fill : style.backgroundColor, background(shape.parentElement));
    if (!(ratio >= 3)) wrong.push(`${shape.getAttribute("class")} is drawn with a contrast of ${ratio}`);
  }
  for (const chart of document.querySelectorAll(".chart")) wrong.push(...overlaps(chart));
  return {Wrong: wrong, Texts: texts};
}

// overlaps looks at the texts of a chart, which must not touch each other nor
// leave the chart.
function overlaps(chart) {
  const wrong = [], around = chart.getBoundingClientRect();
  const boxes = [...chart.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]).filter(b => b[1].width > 0);
  if (boxes.length < 6) wrong.push(`a chart has only ${boxes.length} texts`);
  boxes.forEach(([text, a], i) => {
    if (a.left < around.left - 1 || a.right > around.right + 1 || a.top < around.top - 1 || a.bottom > around.bottom + 1) {
      wrong.push(`"${text}" leaves its chart`);
    }
    for (const [other, b] of boxes.slice(i + 1)) {
      if (a.left < b.right && b.left < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom) {
        wrong.push(`"${text}" and "${other}" overlap in a chart ${around.width} wide`);
      }
    }
  });
  return wrong;
}

// background is the colour behind an element.
function background(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (!/^rgba\(.*, 0\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
}

// contrast is that of WCAG 2: 1 to 21.
function contrast(a, b) {
  const luminance = colour => {
    const channels = colour.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2];
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
