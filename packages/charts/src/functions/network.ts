import { isMap, kindOf, type GoMap, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';
import { environmentOf } from './environment.ts';
import { joinUrl, parseUrl } from './url.ts';

function textIn(map: GoMap | null, key: string): string {
  if (!map?.has(key)) return '';
  const value: Value = map.get(key);
  if (value === null || value === undefined)
    throw new Error('runtime error: invalid memory address or nil pointer dereference');
  if (typeof value !== 'string')
    throw new Error(`unable to parse ${key} key, must be of type string, but ${kindOf(value)} found`);
  return value;
}

function urlParse(text: string): Value {
  let url;
  try {
    url = parseUrl(text);
  } catch (error) {
    throw new Error(`unable to parse url: ${(error as Error).message}`, { cause: error });
  }
  return new Map(Object.entries(url));
}

function urlJoin(map: GoMap | null): string {
  return joinUrl({
    scheme: textIn(map, 'scheme'),
    host: textIn(map, 'host'),
    hostname: '',
    path: textIn(map, 'path'),
    query: textIn(map, 'query'),
    opaque: textIn(map, 'opaque'),
    fragment: textIn(map, 'fragment'),
    userinfo: textIn(map, 'userinfo'),
  });
}

export const networkFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['urlParse', fn(['string'], urlParse)],
  ['urlJoin', fn(['map[string]interface {}'], (map) => urlJoin(isMap(map) ? map : null))],
  // Helm asks no name server unless told to, and neither do we: a render depends on nothing but its input.
  ['getHostByName', fn(['string'], () => '')],
  ['uuidv4', inRun([], (run) => environmentOf(run).random.uuid())],
]);
