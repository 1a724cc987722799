// Runs model.onnx in the browser. One image is drawn on a canvas; other inputs are numbers in JSON.
import * as ort from "./node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";

const model = await (await fetch("model.json")).json();
ort.env.wasm.wasmPaths = new URL("./node_modules/onnxruntime-web/dist/", import.meta.url).href;
ort.env.wasm.numThreads = 1; // more need headers that a plain file server does not send
const at = (id) => document.getElementById(id);
const session = await ort.InferenceSession.create("model.onnx");
const [, channels, height, width] = model.inputs[0].shape;
const drawn = model.inputs.length === 1 && model.inputs[0].shape.length === 4 && [1, 3].includes(channels);
const pen = at("canvas").getContext("2d", { willReadFrequently: true });

function clear() {
  pen.fillStyle = "black";
  pen.fillRect(0, 0, 280, 280);
  at("numbers").value = JSON.stringify(Object.fromEntries(model.inputs.map((i) => [i.name, Array(size(i.shape)).fill(0)])));
  at("results").replaceChildren();
}

const size = (shape) => shape.reduce((a, b) => a * b, 1);

// The picture in the model's size, each channel from 0 to 1.
function pixels() {
  const small = new OffscreenCanvas(width, height).getContext("2d");
  small.drawImage(at("canvas"), 0, 0, width, height);
  const { data } = small.getImageData(0, 0, width, height);
  return Float32Array.from({ length: channels * height * width }, (_, i) => {
    const pixel = i % (height * width), channel = Math.floor(i / (height * width));
    return data[4 * pixel + channel] / 255;
  });
}

const arrays = { float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array, int8: Int8Array, bool: Uint8Array };

function tensor(input, values) {
  const numbers = input.dtype === "int64" ? values.map(BigInt) : values;
  return new ort.Tensor(input.dtype, arrays[input.dtype].from(numbers), input.shape);
}

async function run() {
  at("error").textContent = "";
  try {
    const given = drawn ? { [model.inputs[0].name]: pixels() } : JSON.parse(at("numbers").value);
    const feeds = Object.fromEntries(model.inputs.map((i) => [i.name, tensor(i, given[i.name])]));
    const start = performance.now();
    const found = await session.run(feeds);
    at("state").textContent = `${(performance.now() - start).toFixed(1)} ms`;
    show(found[session.outputNames[0]]);
  } catch (error) {
    at("error").textContent = String(error);
  }
}

function show(result) {
  const scores = Array.from(result.data, Number).slice(0, 1000);
  const top = scores.map((s, i) => [s, i]).sort((a, b) => b[0] - a[0]).slice(0, 10);
  const [high, low] = [top[0][0], top.at(-1)[0]];
  at("results").replaceChildren(...top.map(([score, i]) => {
    const row = document.createElement("div");
    row.className = "bar";
    const width = 10 + 190 * (score - low) / (high - low || 1);
    row.innerHTML = `<b>${i}</b><i style="width:${width}px"></i>${score.toFixed(3)}`;
    return row;
  }));
  at("results").dataset.best = top[0][1];
}

function draw(event) {
  if (event.buttons !== 1) return;
  pen.strokeStyle = "white";
  pen.lineWidth = 20;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(event.offsetX - event.movementX, event.offsetY - event.movementY);
  pen.lineTo(event.offsetX, event.offsetY);
  pen.stroke();
}

at("canvas").hidden = !drawn;
at("numbers").hidden = drawn;
at("canvas").addEventListener("pointermove", draw);
at("canvas").addEventListener("pointerup", run);
at("clear").addEventListener("click", clear);
at("run").addEventListener("click", run);
clear();
at("state").textContent = "ready";
