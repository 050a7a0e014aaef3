"use strict";
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  if (data === null) return;
  const rowChoice = document.getElementById("row-choice");
  const result = document.getElementById("what-if-result");
  const sliders = data.sliders.map((slider, k) => ({
    ...slider,
    input: document.getElementById(`slider-${k}`),
    text: document.getElementById(`slider-text-${k}`),
    curve: document.getElementById(`slider-curve-${k}`),
    points: document.getElementById(`slider-points-${k}`),
    dot: document.getElementById(`slider-dot-${k}`),
  }));
  const row = () => Number(rowChoice.value);

  // The last output over the values of a slider, in a box of 100 by 34: a curve where values are in
  // an order, and points for categories and for what is missing.
  const place = (slider, k) => {
    const values = slider.predictions[row()].map((outputs) => outputs[outputs.length - 1]);
    const low = Math.min(...values), high = Math.max(...values);
    const x = values.length > 1 ? (100 * k) / (values.length - 1) : 50;
    return [x, high > low ? 30 - (26 * (values[k] - low)) / (high - low) : 17];
  };
  const draw = (slider) => {
    const k = Number(slider.input.value);
    const ends = slider.values.map((_, j) => place(slider, j).join(" "));
    const alone = ends.slice(slider.ordered).map((end) => `M${end}h0`).join("");
    slider.curve.setAttribute("d", slider.ordered ? "M" + ends.slice(0, slider.ordered).join("L") : "");
    slider.points.setAttribute("d", alone);
    const [x, y] = place(slider, k);
    slider.dot.setAttribute("cx", `${x}%`);
    slider.dot.setAttribute("cy", y);
    slider.text.textContent = slider.values[k];
    slider.input.setAttribute("aria-valuetext", slider.values[k]);
  };
  const reset = (except) => {
    for (const slider of sliders) {
      if (slider !== except) slider.input.value = Math.max(0, slider.own[row()]);
      draw(slider);
    }
  };
  const say = (texts) => texts.forEach((text, k) => {
    result.querySelectorAll("[data-now]")[k].textContent = text;
    result.querySelectorAll("[data-own]")[k].textContent = data.rows[row()][k];
  });

  for (const slider of sliders) {
    slider.input.disabled = false;
    slider.input.addEventListener("input", () => {
      reset(slider);
      say(slider.texts[row()][Number(slider.input.value)]);
    });
  }
  const begin = () => { reset(null); say(data.rows[row()]); };
  rowChoice.addEventListener("change", begin);
  document.getElementById("what-if-reset").addEventListener("click", begin);
  begin();
})();
