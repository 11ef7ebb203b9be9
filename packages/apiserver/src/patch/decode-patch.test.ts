import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.ts';
import { decodeApplyPatch, decodeMergePatch } from './decode-patch.ts';
import { loadYaml } from '../schema/yaml-text.ts';

beforeAll(() => loadYaml());

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('decodeMergePatch', () => {
  it('lists repeated fields and refuses what is no object', () => {
    expect(decodeMergePatch(Buffer.from('{"a":1,"a":2}'), 'merge')).toEqual({
      patch: { a: 2 },
      strictErrors: ['duplicate field "a"'],
    });
    expect(failure(() => decodeMergePatch(Buffer.from('[1]'), 'merge'))).toBe(
      '400 error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
    expect(failure(() => decodeMergePatch(Buffer.from('[1]'), 'strategic'))).toBe(
      '400 json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  });
});

describe('decodeApplyPatch', () => {
  it('reads YAML and JSON', () => {
    const expected = { apiVersion: 'v1', spec: { on: true } };
    expect(decodeApplyPatch(Buffer.from('apiVersion: v1\nspec: {"on": yes}\n')).config).toEqual({
      apiVersion: 'v1',
      spec: { on: true },
    });
    expect(decodeApplyPatch(Buffer.from(JSON.stringify(expected))).config).toEqual(expected);
  });

  it('answers as the real server to what it cannot read', () => {
    expect(failure(() => decodeApplyPatch(Buffer.from('[]')))).toBe(
      '400 error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
    expect(failure(() => decodeApplyPatch(Buffer.from('{')))).toMatch(
      /^400 error decoding YAML: error converting YAML to JSON: yaml: line 1: /,
    );
    expect(decodeApplyPatch(Buffer.from('{"a":1,"a":2}')).strictErrors).toEqual([
      'error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    ]);
  });
});
