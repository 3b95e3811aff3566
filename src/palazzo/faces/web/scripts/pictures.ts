/** Saves what a figure shows as a picture: as an SVG file of its own, or as PNG. Both are made in the browser. */

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = "rect, line, circle, path, text";
const STYLES = ["fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight"] as const;
const [CAPTION_PX, LINE_PX, LETTER_PX] = [30, 18, 7.5];
const PNG_SCALE = 2;

/** Offers to save every figure that has a name (`data-picture`) and an SVG. */
export function offerPictures(page: Document): void {
  for (const figure of page.querySelectorAll<HTMLElement>("[data-picture]")) {
    const svg = figure.querySelector("svg");
    if (svg) offerPicture(figure, () => copyPicture(svg));
  }
}

/** Adds two buttons to a figure; `draw` returns what is saved, with its width and height in pixels. */
export function offerPicture(figure: HTMLElement, draw: () => SVGSVGElement): void {
  const name = figure.dataset["picture"] ?? "";
  const buttons = document.createElement("p");
  buttons.className = "save";
  for (const format of ["SVG", "PNG"] as const) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset["file"] = fileName(name);
    button.textContent = `Save ${format}`;
    button.setAttribute("aria-label", `Save ${format}: ${name}`);
    button.addEventListener("click", () => {
      const picture = frameDrawing(draw(), figure.dataset["caption"] ?? name, figure);
      const file = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
      if (format === "SVG") save(file, `${fileName(name)}.svg`);
      else void paint(file, picture).then((painted) => painted && save(painted, `${fileName(name)}.png`));
    });
    buttons.append(button);
  }
  figure.append(buttons);
}

/** Returns the name of the file for a picture, without its ending: `palazzo-tokens-a-day`. */
export function fileName(name: string): string {
  const words = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `palazzo-${words.slice(0, 60) || "picture"}`;
}

/** Returns an SVG element with attributes. */
export function element<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** Returns a copy of an SVG of the page that needs no style sheet, and leads nowhere. */
function copyPicture(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const copies = copy.querySelectorAll<SVGElement>(SHAPES);
  svg.querySelectorAll<SVGElement>(SHAPES).forEach((shape, n) => {
    const styles = getComputedStyle(shape);
    copies[n]?.removeAttribute("class");
    for (const style of STYLES) copies[n]?.setAttribute(style, styles.getPropertyValue(style));
  });
  for (const link of copy.querySelectorAll("a")) {
    const group = element("g", {});
    group.append(...link.childNodes);
    link.replaceWith(group);
  }
  const { width, height } = svg.getBoundingClientRect();
  for (const name of ["class", "role", "aria-label"]) copy.removeAttribute(name);
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  return copy;
}

/** Returns a drawing with its caption above it, on the ground of the page. */
function frameDrawing(drawing: SVGSVGElement, caption: string, figure: HTMLElement): SVGSVGElement {
  const [width, height] = [Number(drawing.getAttribute("width")), Number(drawing.getAttribute("height"))];
  const lines = wrapWords(caption, Math.floor((width - 16) / LETTER_PX));
  const top = CAPTION_PX + (lines.length - 1) * LINE_PX;
  const size = { width, height: height + top };
  const picture = element("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  picture.append(element("rect", { ...size, fill: groundOf(figure) }));
  lines.forEach((line, n) => {
    const text = element("text", { x: 8, y: 20 + n * LINE_PX, "font-size": 14, "font-family": "sans-serif" });
    text.setAttribute("fill", getComputedStyle(figure).color);
    text.textContent = line;
    picture.append(text);
  });
  drawing.setAttribute("y", String(top));
  picture.append(drawing);
  return picture;
}

/** Returns words in lines of at most `longest` characters; a longer word has a line of its own. */
export function wrapWords(words: string, longest: number): string[] {
  const lines = [""];
  for (const word of words.split(/\s+/)) {
    const last = lines[lines.length - 1] ?? "";
    const joined = last ? `${last} ${word}` : word;
    if (last && joined.length > longest) lines.push(word);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

function groundOf(figure: HTMLElement): string {
  return getComputedStyle(figure.ownerDocument.body).backgroundColor;
}

/** Returns a picture as PNG, with two pixels for each of the page; null if the browser cannot draw it. */
async function paint(file: Blob, picture: SVGSVGElement): Promise<Blob | null> {
  const address = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = PNG_SCALE * Number(picture.getAttribute("width"));
    canvas.height = PNG_SCALE * Number(picture.getAttribute("height"));
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // the browser reads it after the click
}
