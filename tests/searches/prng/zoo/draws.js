// node draws.js CALL SEED COUNT MODULUS: one draw in a line; Math.random() takes no seed
const [, , , , count, m] = process.argv;
for (let i = 0; i < +count; i++) console.log(Math.floor(Math.random() * +m));
