// Takes steps with the library XState, and prints where each led. Arguments: the folder in which npm installed it.
// Input: {charts: {name: chart}, steps: [{chart, state, event, guards}]}. Output: [{state, actions}], in the same order.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const { createMachine, transition } = createRequire(path.resolve(process.argv[2]) + "/")("xstate");
const { charts, steps } = JSON.parse(fs.readFileSync(0, "utf8"));

let holding = new Set(); // the names of the guards that hold

const machines = new Map();
for (const [name, chart] of Object.entries(charts)) {
  const guards = {};
  for (const state of Object.values(chart.states)) {
    for (const t of [...Object.values(state.on ?? {}).flat(), ...(state.always ?? [])]) {
      if (t.guard) guards[t.guard] = () => holding.has(t.guard);
    }
  }
  machines.set(name, createMachine(chart, { guards }));
}

const results = steps.map(({ chart, state, event, guards }) => {
  const machine = machines.get(chart);
  holding = new Set(guards);
  const [next, actions] = transition(machine, machine.resolveState({ value: state }), { type: event });
  return { state: next.value, actions: actions.map((a) => a.type) };
});
process.stdout.write(JSON.stringify(results));
