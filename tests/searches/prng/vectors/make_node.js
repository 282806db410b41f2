// Prints vectors of Math.random() of V8: node make_node.js
// Each seed needs a process of its own: --random_seed is a flag of the engine.
const { execFileSync } = require("child_process");
const SEEDS = [1, 42, 2147483647, -1];
const MODULI = [7, 1000, 1024, 2147483647];

// Newer versions of V8 keep 53 bits, older ones 52.
function output() {
  const some = Array.from({ length: 64 }, Math.random);
  return some.some((u) => (u * 2 ** 52) % 1) ? "scaled53" : "scaled";
}

function line(seed, modulus, output) {
  const values = [];
  for (let i = 0; i < 1006; i++) values.push(Math.floor(Math.random() * modulus));
  const first = values.slice(0, 6).join(", ");
  const later = values.slice(1000).join(", ");
  const unsigned = BigInt.asUintN(64, BigInt(seed));
  console.log(
    `{"family": "v8", "output": "${output}", "seed": ${unsigned}, "modulus": ${modulus},` +
      ` "first": [${first}], "later": [${later}]}`
  );
}

if (process.argv.length > 2) {
  line(Number(process.argv[2]), Number(process.argv[3]), process.argv[4]);
} else {
  const kind = output();
  for (const seed of SEEDS) {
    for (const modulus of MODULI) {
      const words = [`--random_seed=${seed}`, __filename, String(seed), String(modulus), kind];
      process.stdout.write(execFileSync(process.execPath, words));
    }
  }
}
