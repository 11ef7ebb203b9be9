import { existsSync, statSync } from 'node:fs';
import { bytesToText, utf8Compare } from '../go/bytes.ts';
import { isMap, type GoMap, type Value } from '../go/values.ts';
import { layOver } from './merge-maps.ts';
import { type ReadYamlOptions, readYaml, YamlError } from '../yaml/read.ts';
import { readYamlMap } from '../yaml/unmarshal.ts';
import { readArchive } from './archive.ts';
import { ChartError } from './chart-error.ts';
import type { Chart, ChartFile } from './chart.ts';
import { archiveLimits, chartRoom, type ChartRoom } from './chart-room.ts';
import { readDirectory } from './directory.ts';
import { lockFields, metadataFields } from './metadata-fields.ts';
import { readMetadata } from './metadata.ts';
import { readRegularFile } from './regular-file.ts';

/** Charts inside charts, deeper than anyone nests them. */
const deepestSubchart = 20;

/**
 * Reads a chart: a folder, a `.tgz`, or the bytes of one.
 *
 * @example
 * const chart = await loadChart('./charts/web');
 * chart.metadata.name; // => 'web'
 */
export async function loadChart(source: string | Uint8Array): Promise<Chart> {
  const room = chartRoom();
  if (typeof source !== 'string') return await loadWithin(await readArchive(source, room), room, 0);
  if (!existsSync(source)) throw new ChartError('NotFound', `path "${source}" not found`);
  return await loadWithin(await chartFiles(source, room), room, 0);
}

/** The files of the chart in a folder or an archive, as they are. */
export async function chartFiles(path: string, room: ChartRoom = chartRoom()): Promise<ChartFile[]> {
  return statSync(path).isDirectory()
    ? readDirectory(path, room)
    : await readArchive(readRegularFile(path, path, archiveLimits.total), room);
}

/** Metadata are texts: 10 and 1e1 are not the same. */
const written: ReadYamlOptions = { numbers: 'int' };

/** Makes a chart of its files. */
export async function loadFiles(files: readonly ChartFile[]): Promise<Chart> {
  return await loadWithin(files, chartRoom(), 0);
}

async function loadWithin(files: readonly ChartFile[], room: ChartRoom, depth: number): Promise<Chart> {
  if (depth > deepestSubchart) throw new ChartError('InvalidChart', `charts are nested deeper than ${deepestSubchart}`);
  const find = (name: string) => files.find((file) => file.name === name);
  const chartFile = find('Chart.yaml');
  if (!chartFile) throw new ChartError('InvalidChart', 'Chart.yaml file is missing');
  const fields = metadataFields(documentIn(chartFile), 'Chart.yaml');
  const lock = lockIn(find('Chart.lock')) ?? lockIn(find('requirements.lock'));
  const requirements = find('requirements.yaml');
  if (requirements !== undefined)
    for (const [name, value] of metadataFields(documentIn(requirements), requirements.name)) fields.set(name, value);
  const values = readValues(find('values.yaml'));
  const metadata = readMetadata(fields);
  const isV1 = metadata.apiVersion === 'v1';
  const templates: ChartFile[] = [];
  const others: ChartFile[] = [];
  const nested = new Map<string, ChartFile[]>();
  for (const file of files) {
    const { name } = file;
    if (name === 'requirements.yaml' || name === 'requirements.lock') {
      if (isV1) others.push(file);
    } else if (name.startsWith('templates/')) templates.push(file);
    else if (name.startsWith('charts/') && !name.endsWith('.prov')) addNested(nested, file);
    else if (!ownFiles.has(name)) others.push(file);
  }
  const required = fields.get('dependencies');
  return {
    metadata,
    hasEmptyRequirements: Array.isArray(required) && required.length === 0,
    lock,
    values,
    schema: find('values.schema.json')?.data,
    templates,
    files: others,
    raw: files,
    dependencies: await loadNested(nested, metadata.name, room, depth),
  };
}

const ownFiles = new Set(['Chart.yaml', 'Chart.lock', 'values.yaml', 'values.schema.json']);

function addNested(nested: Map<string, ChartFile[]>, file: ChartFile): void {
  const path = file.name.slice('charts/'.length);
  const [top] = path.split('/', 1) as [string];
  const known = nested.get(top) ?? [];
  known.push({ name: path, data: file.data });
  nested.set(top, known);
}

async function loadNested(
  nested: Map<string, ChartFile[]>,
  parent: string,
  room: ChartRoom,
  depth: number,
): Promise<Chart[]> {
  const charts: Chart[] = [];
  for (const name of [...nested.keys()].sort(utf8Compare)) {
    if (name.startsWith('_') || name.startsWith('.')) continue;
    try {
      charts.push(await loadWithin(await nestedFiles(name, nested.get(name)!, room), room, depth + 1));
    } catch (error) {
      if (!(error instanceof ChartError)) throw error;
      throw new ChartError(error.code, `error unpacking subchart ${name} in ${parent}: ${error.message}`, {
        cause: error,
      });
    }
  }
  return charts;
}

async function nestedFiles(name: string, files: readonly ChartFile[], room: ChartRoom): Promise<ChartFile[]> {
  if (name.endsWith('.tgz')) {
    const [file] = files;
    if (file!.name !== name) throw new ChartError('InvalidChart', `expected ${name}, got ${file!.name}`);
    return await readArchive(file!.data, room);
  }
  return files
    .filter((file) => file.name.includes('/'))
    .map((file) => ({ name: file.name.slice(file.name.indexOf('/') + 1), data: file.data }));
}

function documentIn(file: ChartFile): Value {
  return parse(file, `cannot load ${file.name}`, written);
}

function lockIn(file: ChartFile | undefined): GoMap | undefined {
  return file && lockFields(documentIn(file), file.name);
}

function parse(file: ChartFile, context: string, options?: ReadYamlOptions): Value {
  try {
    return readYaml(bytesToText(file.data), options);
  } catch (error) {
    throw new ChartError('InvalidChart', `${context}: error converting YAML to JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function readValues(file: ChartFile | undefined): GoMap {
  if (!file) return new Map();
  try {
    return readValuesText(bytesToText(file.data));
  } catch (error) {
    throw new ChartError('InvalidChart', `cannot load values.yaml: ${(error as Error).message}`, { cause: error });
  }
}

/** The chart as a Helm reads it that knows only the first document of a file with values. */
export function withFirstDocuments(chart: Chart): Chart {
  const file = chart.raw.find(({ name }) => name === 'values.yaml');
  const first = file ? parse(file, 'cannot load values.yaml') : null;
  return {
    ...chart,
    values: isMap(first) ? first : new Map(),
    dependencies: chart.dependencies.map(withFirstDocuments),
  };
}

/** Values may be in several documents; later ones lie over earlier ones. */
export function readValuesText(text: string): GoMap {
  const values: GoMap = new Map();
  for (const document of valuesDocuments(text)) {
    const read = readDocument(document);
    if (read !== null) layOver(values, read);
  }
  return values;
}

function readDocument(document: string): GoMap | null {
  try {
    return readYamlMap(document);
  } catch (error) {
    throw new YamlError(`cannot unmarshal yaml document: ${(error as Error).message}`);
  }
}

/** Kubernetes cuts a stream at lines that begin with three dashes, wherever they stand; such a line says nothing else. */
function* valuesDocuments(text: string): Generator<string> {
  const source = (text.endsWith('\n') ? text : `${text}\n`).replaceAll('\r\n', '\n');
  let start = 0;
  for (const { index, 0: line, 1: rest } of source.matchAll(/(?<![^\n])---([^\n]*)\n/g)) {
    const said = rest!.trim();
    if (said !== '' && !said.startsWith('#'))
      throw new YamlError(`error reading yaml document: invalid Yaml document separator: ${said}`);
    // One that begins a document belongs to it.
    if (index === start) continue;
    yield source.slice(start, index);
    start = index + line.length;
  }
  if (start < source.length) yield source.slice(start);
}
