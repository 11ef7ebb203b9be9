import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { RE2JS } from 're2js';
import { parse } from 'yaml';

import { ruleFields, type SelectionRule } from './selection.ts';
import { SopsError } from './sops-error.ts';

/** What `.sops.yaml` says about a new file. */
export interface CreationRule {
  /** Age recipients. */
  readonly recipients: readonly string[];
  readonly rule: SelectionRule;
  readonly macOnlyEncrypted: boolean;
}

const maxDepth = 100;

/** The nearest `.sops.yaml` in the folder of the file or above it. */
export async function findConfigFile(path: string): Promise<string | undefined> {
  let folder = dirname(resolve(path));
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const candidate = join(folder, '.sops.yaml');
    if (await exists(candidate)) return candidate;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}

/** The first creation rule of a configuration file whose `path_regex` matches; undefined when the file has no rules at all. */
export async function creationRuleFor(path: string, configFile: string): Promise<CreationRule | undefined> {
  const text = await readFile(configFile, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new SopsError('config', `cannot read ${configFile} (${cause.code})`, { cause });
  });
  const rules = rulesOf(text, configFile);
  if (rules === undefined) return undefined;
  const below = relative(dirname(resolve(configFile)), resolve(path));
  const tried = below.startsWith('..') ? resolve(path) : below.split(sep).join('/');
  for (const [index, rule] of rules.entries()) {
    const where = `${configFile}: creation_rules[${index}]`;
    const pattern = rule['path_regex'];
    if (pattern === undefined || pattern === '' || matches(pattern, tried, where)) return ruleOf(rule, where);
  }
  throw new SopsError('config', `${configFile}: no creation rule matches ${tried}`, {
    hint: 'add one, or a last rule without path_regex for all other files',
  });
}

function rulesOf(text: string, configFile: string): Record<string, unknown>[] | undefined {
  let content: unknown;
  try {
    content = parse(text);
  } catch (cause) {
    throw new SopsError('config', `${configFile}: not valid YAML`, { cause });
  }
  const rules = isRecord(content) ? content['creation_rules'] : undefined;
  if (rules === undefined || rules === null) return undefined;
  if (!Array.isArray(rules) || !rules.every(isRecord)) {
    throw new SopsError('config', `${configFile}: creation_rules has to be a list of maps`);
  }
  return rules;
}

function ruleOf(rule: Record<string, unknown>, where: string): CreationRule {
  const named: Record<string, string> = {};
  for (const [field, name] of Object.entries(ruleFields)) {
    const text = rule[name];
    if (text === undefined || text === '') continue;
    if (typeof text !== 'string') throw new SopsError('config', `${where}.${name}: expected a string`);
    named[field] = text;
  }
  if (Object.keys(named).length > 1) {
    throw new SopsError('config', `${where}: only one of ${Object.values(ruleFields).join(', ')} can be used`);
  }
  return { recipients: recipientsOf(rule, where), rule: named, macOnlyEncrypted: rule['mac_only_encrypted'] === true };
}

function recipientsOf(rule: Record<string, unknown>, where: string): string[] {
  const groups = rule['key_groups'];
  if (groups === undefined) return ageList(rule['age'], `${where}.age`);
  if (!Array.isArray(groups) || groups.length !== 1 || !isRecord(groups[0])) {
    throw new SopsError('unsupported', `${where}.key_groups: several groups (Shamir) are not supported`);
  }
  return ageList(groups[0]['age'], `${where}.key_groups[0].age`);
}

function ageList(value: unknown, where: string): string[] {
  const parts = typeof value === 'string' ? value.split(',') : value;
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) {
    throw new SopsError('config', `${where}: expected recipients, as a list or separated by commas`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function matches(pattern: unknown, path: string, where: string): boolean {
  if (typeof pattern !== 'string') throw new SopsError('config', `${where}.path_regex: expected a string`);
  try {
    return RE2JS.compile(pattern).matcher(path).find();
  } catch (cause) {
    throw new SopsError('config', `${where}.path_regex: '${pattern}' is not a regular expression (RE2)`, { cause });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function exists(path: string): Promise<boolean> {
  return await readFile(path).then(
    () => true,
    () => false,
  );
}
