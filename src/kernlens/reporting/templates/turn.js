// Surfaces to turn: tiles of a net, the farthest drawn first, each with paper below its shade.
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  if (data === null) return;
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const SIZE = 92, ACROSS = 202, UP = 165, FLOOR = -0.6, TALL = 1.2, BESIDE = 1.2;

  const add = (parent, name, kind) => {
    const made = document.createElementNS(NAMESPACE, name);
    made.setAttribute("class", kind);
    return parent.appendChild(made);
  };

  const begin = (surface, k) => {
    const part = (name) => document.getElementById(`turn-${k}${name}`);
    const [around, tilt, drawing] = [part("-around"), part("-tilt"), part("-drawing")];
    let [angle, rise] = [Number(around.value), Number(tilt.value)];
    const steps = surface.shades.length;
    const on = (j) => (2 * j) / steps - 1;
    const tiles = surface.shades.flatMap((row, i) => row.map((shade, j) => ({ i, j, shade })));

    const floor = add(drawing, "path", "line");
    const paths = tiles.map(() => [add(drawing, "path", "tile"), add(drawing, "path", "level")]);
    const words = [...Array(8)].map(() => add(drawing, "text", "tick"));

    const draw = () => {
      const [turned, raised] = [angle, rise].map((degrees) => (degrees * Math.PI) / 180);
      const [sin, cos] = [Math.sin(turned), Math.cos(turned)];
      const far = (x, y) => x * sin + y * cos;
      const place = (x, y, z) => [
        ACROSS + SIZE * (x * cos - y * sin),
        UP - SIZE * (far(x, y) * Math.sin(raised) + z * Math.cos(raised)),
      ];
      const ring = (points) =>
        "M" + points.map((one) => one.map((value) => value.toFixed(1)).join(" ")).join("L") + "Z";
      const knot = (i, j) => place(on(i), on(j), FLOOR + TALL * surface.heights[i][j]);
      const write = (word, text, [x, y], anchor) => {
        word.textContent = text;
        word.setAttribute("x", x.toFixed(1));
        word.setAttribute("y", (y + 4).toFixed(1));
        word.setAttribute("text-anchor", anchor);
      };

      const corners = [[-1, -1], [-1, 1], [1, 1], [1, -1]];
      const left = corners.reduce((one, other) =>
        place(...other, 0)[0] < place(...one, 0)[0] - 1e-6 ? other : one);
      const post = [FLOOR, FLOOR + TALL].map((z) => place(...left, z));
      floor.setAttribute("d", ring(corners.map((one) => place(...one, FLOOR))) + ring(post));
      const depth = ({ i, j }) => far(on(i + 0.5), on(j + 0.5));
      [...tiles].sort((one, other) => depth(other) - depth(one)).forEach(({ i, j, shade }, n) => {
        const shape = ring([knot(i, j), knot(i + 1, j), knot(i + 1, j + 1), knot(i, j + 1)]);
        paths[n].forEach((path) => path.setAttribute("d", shape));
        paths[n][1].setAttribute("class", `level level-${shade}`);
      });
      // Names and ends of the directions are along the edges that are nearest.
      const [x, y] = [far(BESIDE, 0) <= 1e-6 ? BESIDE : -BESIDE, far(0, BESIDE) < 0 ? BESIDE : -BESIDE];
      const texts = [
        [surface.first[0], place(-0.8, y, FLOOR)], ["direction 1", place(0, 1.18 * y, FLOOR)],
        [surface.first[1], place(0.8, y, FLOOR)], [surface.second[0], place(x, -0.8, FLOOR)],
        ["direction 2", place(1.18 * x, 0, FLOOR)], [surface.second[1], place(x, 0.8, FLOOR)],
      ];
      texts.forEach(([text, where], n) => write(words[n], text, where, "middle"));
      post.forEach(([across, up], n) => write(words[6 + n], surface.ends[n], [across - 6, up], "end"));
      for (const [input, degrees] of [[around, angle], [tilt, rise]]) {
        input.value = degrees;
        input.setAttribute("aria-valuetext", `${Math.round(degrees)} degrees`);
      }
    };

    around.addEventListener("input", () => { angle = Number(around.value); draw(); });
    tilt.addEventListener("input", () => { rise = Number(tilt.value); draw(); });
    drawing.addEventListener("pointerdown", (event) => drawing.setPointerCapture(event.pointerId));
    drawing.addEventListener("pointermove", (event) => {
      if (!drawing.hasPointerCapture(event.pointerId)) return;
      angle = ((angle + event.movementX / 2 + 540) % 360) - 180;
      rise = Math.min(80, Math.max(0, rise + event.movementY / 2));
      draw();
    });
    draw();
    part("").hidden = false;
  };
  data.surfaces.forEach(begin);
})();
