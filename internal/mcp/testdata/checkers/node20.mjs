// Lets the conformance suite start on Node 20 too: it imports fs.globSync, which came with Node 22, and uses it for none of what we run.
import { register } from "node:module";

const fs = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => { throw new Error("needs Node 22"); };';
const hook = `export async function resolve(name, context, next) {
  if (name !== "fs" || !context.parentURL?.includes("/conformance/")) return next(name, context);
  return { url: "data:text/javascript," + encodeURIComponent(${JSON.stringify(fs)}), shortCircuit: true };
}`;
if (Number(process.versions.node.split(".")[0]) < 22) register("data:text/javascript," + encodeURIComponent(hook));
