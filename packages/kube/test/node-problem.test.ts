import { expect, test } from 'vitest';

import { nodeProblem } from '../node-problem.cjs';

test.each(['22.19.0', '22.23.3', '23.0.0', '24.1.0', '100.0.0'])('Node %s will do', (found) => {
  expect(nodeProblem(found, '>=22.19.0')).toBeUndefined();
});

test.each(['8.17.0', '20.20.2', '22.3.9', '22.18.9'])('Node %s is told what it is and what is needed', (found) => {
  const problem = nodeProblem(found, '>=22.19.0');
  expect(problem).toContain(`slipway needs Node 22.19.0 or newer, and this is Node ${found}`);
  expect(problem).not.toContain('\n');
});

test('a range of one number will do', () => {
  expect(nodeProblem('24.0.0', '>=24')).toBeUndefined();
  expect(nodeProblem('23.9.9', '>=24')).toContain('needs Node 24 or newer');
});
