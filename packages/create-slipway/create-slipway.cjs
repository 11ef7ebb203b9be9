#!/usr/bin/env node
'use strict';

const { nodeProblem } = require('@slipway/kube/node-problem.cjs');
const { engines } = require('./package.json');

const problem = nodeProblem(process.versions.node, engines.node);
if (problem === undefined) {
  void import('@slipway/scaffold/main');
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
