import { describe, expect, it } from 'vitest';
import { ProbeVerdict } from './probe-verdict.ts';
import { portNumber } from './run-probe.ts';

const verdicts = (verdict: ProbeVerdict, results: readonly boolean[]) =>
  results.map((result) => {
    verdict.take(result);
    return verdict.passes;
  });

describe('the verdict of a probe', () => {
  it('is ready after one success and unready after three failures in a row, by default', () => {
    const verdict = new ProbeVerdict({}, false);
    expect(verdicts(verdict, [false, true, false, false, true, false, false, false])).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('keeps to the thresholds of the probe', () => {
    const verdict = new ProbeVerdict({ successThreshold: 2, failureThreshold: 1 }, false);
    expect(verdicts(verdict, [true, true, false, true, true])).toEqual([false, true, false, false, true]);
  });

  it('has failed only after enough failures, although it never passed', () => {
    const verdict = new ProbeVerdict({ failureThreshold: 2 }, false);
    verdict.take(false);
    expect(verdict.hasFailed).toBe(false);
    verdict.take(false);
    expect(verdict.hasFailed).toBe(true);
  });
});

describe('the port of a probe', () => {
  it('may be the name of a port of the container, or a number as text', () => {
    const container = { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080 }] };
    expect(portNumber('web', container)).toBe(8080);
    expect(portNumber('8081', container)).toBe(8081);
    expect(portNumber(9443, container)).toBe(9443);
  });
});
