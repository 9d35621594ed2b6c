(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("krait-data").textContent);
  // Okabe and Ito's palette: told apart by people with any common colour blindness.
  const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999"];
  const css = getComputedStyle(document.documentElement);
  const ink = css.getPropertyValue("--ink").trim(), soft = css.getPropertyValue("--soft").trim();
  const line = css.getPropertyValue("--line").trim(), card = css.getPropertyValue("--card").trim();
  Chart.defaults.font.family = css.getPropertyValue("--sans").trim();
  Chart.defaults.font.size = 12;
  Chart.defaults.color = soft;
  Chart.defaults.borderColor = line;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.position = "bottom";
  Chart.defaults.plugins.legend.labels.boxWidth = 14;

  function ratio(x) { return x >= 9.995 ? x.toFixed(0) + "x" : x.toPrecision(3) + "x"; }

  function hatch(color) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = tile.getContext("2d");
    pen.fillStyle = card;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = color;
    pen.lineWidth = 2.4;
    pen.beginPath();
    for (const shift of [-8, 0, 8]) { pen.moveTo(shift - 1, 9); pen.lineTo(shift + 9, -1); }
    pen.stroke();
    return pen.createPattern(tile, "repeat");
  }

  // Values at the ends of bars, so that no tooltip is needed.
  const valueLabels = {
    id: "valueLabels",
    afterDatasetsDraw(chart) {
      const pen = chart.ctx;
      pen.save();
      pen.font = "12px " + Chart.defaults.font.family;
      pen.fillStyle = ink;
      pen.textBaseline = "middle";
      chart.data.datasets.forEach((set, s) => chart.getDatasetMeta(s).data.forEach((bar, i) => {
        const value = set.data[i];
        if (value === null) return;
        pen.textAlign = "left";
        const right = Math.max(bar.x, bar.base);
        pen.fillText(ratio(value), right + 5, bar.y);
      }));
      pen.restore();
    }
  };

  // Decades and a few steps between them; all others stay without a number.
  function logTick(value) {
    const mantissa = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
    return [1, 2, 5].some(m => Math.abs(mantissa - m) < 1e-6) ? Number(value.toPrecision(3)).toString() : "";
  }
  function logAxis(title, extra) {
    return Object.assign({ type: "logarithmic", title: { display: true, text: title },
      ticks: { callback: logTick, maxRotation: 0, autoSkip: true, autoSkipPadding: 8 },
      grid: { color: line } }, extra);
  }

  data.speedups.forEach((chart, index) => {
    const canvas = document.getElementById("speedup-" + index);
    const values = chart.series.flatMap(s => s.values).filter(v => v !== null);
    if (!canvas || values.length === 0) return;
    const high = Math.max(...values) * 1.6, low = Math.min(1, ...values) * 0.8;
    const bars = chart.series.length * chart.labels.length;
    canvas.parentElement.style.height = Math.max(220, 110 + 24 * bars) + "px";
    new Chart(canvas, {
      type: "bar",
      plugins: [valueLabels],
      data: { labels: chart.labels.map(l => l.split(" ")), datasets: chart.series.map((s, i) => {
        const color = palette[i % palette.length];
        return { label: s.name, data: s.values, base: 1, borderColor: color, borderWidth: 1.5,
          maxBarThickness: 20, minBarLength: 2,
          backgroundColor: s.measured.map(m => m ? color : hatch(color)) };
      }) },
      options: { indexAxis: "y",
        plugins: { tooltip: { callbacks: { label: c => c.dataset.label + ": " + ratio(c.raw) } } },
        scales: { x: logAxis("speed-up over the baseline", { min: low, max: high }),
          y: { grid: { display: false }, ticks: { color: ink } } } }
    });
  });

  data.sweeps.forEach((chart, index) => {
    const canvas = document.getElementById("sweep-" + index);
    if (!canvas) return;
    canvas.parentElement.style.height = "420px";
    // What all shapes share is no news on the axis.
    const words = chart.labels.map(l => l.trim().split(" "));
    const labels = words.map(w => w.filter(x => !words.every(other => other.includes(x))));
    const values = chart.series.flatMap(s => s.values).filter(v => v !== null);
    const low = Math.min(1, ...values) * 0.8, high = Math.max(1, ...values) * 1.25;
    new Chart(canvas, {
      type: "line",
      data: { labels, datasets: chart.series.map((s, i) => {
        const color = palette[i % palette.length];
        return { label: s.name, data: s.values, borderColor: color, spanGaps: true, borderWidth: 2,
          backgroundColor: s.measured ? color : card, pointBorderColor: color, pointBorderWidth: 2,
          pointRadius: 4, borderDash: s.measured ? [] : [6, 4] };
      }) },
      options: { plugins: { tooltip: { callbacks: { label: c => c.dataset.label + ": " + ratio(c.raw) } } },
        scales: { y: logAxis("speed-up", { min: low, max: high }), x: { grid: { display: false },
          ticks: { autoSkip: false, font: { size: 10 } } } } }
    });
  });

  data.rooflines.forEach((chart, index) => {
    const canvas = document.getElementById("roofline-" + index);
    const points = chart.series.flatMap(s => s.points);
    if (!canvas || points.length === 0) return;
    const bandwidth = chart.roofs.bytes_per_ns, peaks = chart.roofs.peaks.filter(p => p.gflops > 0);
    const predicted = chart.title.endsWith("predicted");
    const top = Math.max(1, ...peaks.map(p => p.gflops), ...points.map(p => p.y));
    const left = Math.min(0.25, ...points.map(p => p.x / 2));
    const right = Math.max(16, bandwidth > 0 ? 4 * top / bandwidth : 0, ...points.map(p => p.x * 2));
    const roofs = [];
    if (bandwidth > 0)
      roofs.push({ label: chart.roofs.memory + ", " + bandwidth.toPrecision(3) + " GB/s",
        points: [[left, left * bandwidth], [top / bandwidth, top]] });
    for (const peak of peaks)
      roofs.push({ label: peak.name + ", " + (peak.gflops / 1000).toPrecision(3) + " TFLOP/s",
        points: [[bandwidth > 0 ? peak.gflops / bandwidth : left, peak.gflops], [right, peak.gflops]] });
    const shapes = ["circle", "triangle", "rect", "rectRot"];
    const datasets = chart.series.map((s, i) => ({
      label: s.name, data: s.points.map(p => ({ x: p.x, y: p.y, name: p.name, shape: p.shape })),
      pointStyle: shapes[i % shapes.length], radius: 6, hoverRadius: 8, borderWidth: 2,
      borderColor: palette[i % palette.length],
      backgroundColor: predicted ? card : palette[i % palette.length]
    })).concat(roofs.map((r, i) => ({
      label: r.label, type: "line", data: r.points.map(p => ({ x: p[0], y: p[1] })), borderColor: i ? soft : ink,
      borderWidth: 2, borderDash: [[], [8, 4], [2, 3]][i % 3], pointRadius: 0, pointHitRadius: 0, pointStyle: "line"
    })));
    new Chart(canvas, {
      type: "scatter",
      data: { datasets },
      options: {
        plugins: { legend: { labels: { usePointStyle: true } }, tooltip: { callbacks: {
          label: c => c.raw.name ? c.raw.name + " (" + c.raw.shape + "): " + c.raw.y.toPrecision(3) + " GFLOP/s"
            : c.dataset.label } } },
        scales: { x: logAxis("operations per byte", { min: left, max: right }),
          y: logAxis("GFLOP/s", { max: top * 2 }) } }
    });
  });
})();
