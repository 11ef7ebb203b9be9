'use strict';

const { spawnSync } = require('node:child_process');
const { existsSync, unlinkSync } = require('node:fs');
const { join } = require('node:path');
const { nodeProblem } = require('../../packages/kube/node-problem.cjs');

/**
 * Where the pinned Node cannot run (a system with musl, say) or is not to be had for the machine, npm scripts shall find the
 * Node of the machine: takes the pinned one off their PATH. Plain CommonJS, because that Node may be any.
 *
 * @param {string} bin the folder npm scripts look into first
 * @param {{ node: string, machine: string, needed: string }} facts Node of the machine, what machine it is, what sources need
 * @returns {string | undefined} what to tell the user
 */
function fallBack(bin, { node, machine, needed }) {
  const pinned = join(bin, 'node');
  const present = existsSync(pinned);
  if (present && spawnSync(pinned, ['--version']).status === 0) return undefined;
  if (present) unlinkSync(pinned);
  const why = present ? `the pinned Node does not run on this machine (${machine})` : `no pinned Node for ${machine}`;
  const problem = nodeProblem(node, needed);
  return problem === undefined ? `${why}: using Node ${node} of this machine` : `${why}; ${problem}`;
}

exports.fallBack = fallBack;

/** @returns {string} such as `linux-x64-musl` */
function machineName() {
  const report = process.report && process.report.getReport();
  const musl = process.platform === 'linux' && report && !report.header.glibcVersionRuntime;
  return `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

// npm writes scripts for Windows that fall back by themselves, and there is one C library there.
if (require.main === module && process.platform !== 'win32') {
  const said = fallBack(join(__dirname, '..', '..', 'node_modules', '.bin'), {
    node: process.versions.node,
    machine: machineName(),
    needed: require('../../packages/slipway/package.json').engines.node,
  });
  if (said !== undefined) process.stderr.write(`slipway: ${said}\n`);
}
