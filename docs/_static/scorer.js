// How search results are ordered: pages by name first, then those of the modules that programs mostly use.
const RARE = /^api\/paddle_lite_py\.(static|sparse|incubate|compat|distributed|audio|quantization)\b/;

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 2,
  partialTerm: 1,
  // [document, title, anchor, description, score, file name]
  score: ([name, title, anchor, description, score]) => {
    if (RARE.test(name)) score -= 6;
    if (name.startsWith("api/") && name.split(".").pop() === title) score += 3;
    if (/^(design\/|contributing|differences|errors)/.test(name)) score -= 2;
    return score;
  },
};
