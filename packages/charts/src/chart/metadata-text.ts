import { fromPlain } from '../go/values.ts';
import { writeYaml } from '../yaml/write.ts';
import type { ChartMetadata } from './chart.ts';

/** What Chart.yaml says as plain data: fields that say nothing are left out. */
export function metadataJson(metadata: ChartMetadata): Record<string, unknown> {
  const { maintainers, dependencies, ...rest } = metadata;
  return withoutEmpty({
    ...rest,
    maintainers: maintainers.map(withoutEmpty),
    // The repository is written even when there is none.
    dependencies: dependencies.map(({ importValues, name, repository, ...dependency }) => ({
      ...withoutEmpty({ ...dependency, 'import-values': importValues }),
      name,
      repository,
    })),
  });
}

/** Chart.yaml, written anew as Helm does. */
export function chartMetadataText(metadata: ChartMetadata): string {
  return writeYaml(fromPlain(metadataJson(metadata)));
}

/** Helm leaves out what is empty. */
function withoutEmpty(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === false || value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
