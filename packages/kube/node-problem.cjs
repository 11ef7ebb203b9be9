'use strict';

/**
 * Why this Node cannot run Slipway, in one line; nothing when it can. In the JavaScript of ten years ago, so that a Node
 * that is too old can read it. The bundle holds a copy of its text.
 *
 * @param {string} found the version of Node, e.g. `22.19.0`
 * @param {string} range what `engines` asks for, e.g. `>=22.19.0`
 * @returns {string | undefined}
 */
function nodeProblem(found, range) {
  const needed = range.replace('>=', '');
  const [have, want] = [found, needed].map((version) => version.split('.').map((part) => parseInt(part, 10)));
  for (let i = 0; i < want.length && have[i] >= want[i]; i += 1) {
    if (have[i] > want[i] || i === want.length - 1) return undefined;
  }
  return `slipway needs Node ${needed} or newer, and this is Node ${found}: install a newer one (https://nodejs.org) and try again`;
}

exports.nodeProblem = nodeProblem;
