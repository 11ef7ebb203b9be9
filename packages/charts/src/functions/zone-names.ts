/**
 * What the time zone database calls the hours of zones that JavaScript has no short names for, by hours east of UTC: `9 JST` says that
 * nine hours east is JST there.
 */
const groups: readonly (readonly [string, string])[] = [
  ['9 JST', 'Asia/Tokyo Japan'],
  ['9 KST', 'Asia/Seoul Asia/Pyongyang ROK'],
  ['8 CST', 'Asia/Shanghai Asia/Chongqing Asia/Harbin Asia/Macau Asia/Macao Asia/Taipei PRC ROC'],
  ['8 HKT', 'Asia/Hong_Kong Hongkong'],
  ['8 PST', 'Asia/Manila'],
  ['7 WIB', 'Asia/Jakarta Asia/Pontianak'],
  ['8 WITA', 'Asia/Makassar Asia/Ujung_Pandang'],
  ['9 WIT', 'Asia/Jayapura'],
  ['5 PKT 6 PKST', 'Asia/Karachi'],
  ['2 IST 3 IDT', 'Asia/Jerusalem Asia/Tel_Aviv Israel'],
  ['3 MSK 4 MSK', 'Europe/Moscow Europe/Kirov Europe/Simferopol Europe/Volgograd W-SU'],
  ['0 GMT 1 IST', 'Europe/Dublin Eire'],
  ['1 MET 2 MEST', 'MET'],
  ['-5 CST -4 CDT', 'America/Havana Cuba'],
  ['-3.5 NST -2.5 NDT', 'America/St_Johns Canada/Newfoundland'],
  ['10 ChST', 'Pacific/Guam Pacific/Saipan'],
  ['-11 SST', 'Pacific/Pago_Pago Pacific/Midway Pacific/Samoa US/Samoa'],
  ['2 SAST', 'Africa/Johannesburg Africa/Maseru Africa/Mbabane'],
  [
    '3 EAT',
    'Africa/Nairobi Africa/Addis_Ababa Africa/Asmara Africa/Asmera Africa/Dar_es_Salaam Africa/Djibouti Africa/Kampala Africa/Mogadishu Indian/Antananarivo Indian/Comoro Indian/Mayotte',
  ],
  [
    '1 WAT',
    'Africa/Lagos Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Libreville Africa/Luanda Africa/Malabo Africa/Ndjamena Africa/Niamey Africa/Porto-Novo',
  ],
  [
    '2 CAT',
    'Africa/Maputo Africa/Blantyre Africa/Bujumbura Africa/Gaborone Africa/Harare Africa/Juba Africa/Khartoum Africa/Kigali Africa/Lubumbashi Africa/Lusaka Africa/Windhoek',
  ],
  ['0 GMT', 'GMT GMT0 GMT+0 GMT-0 Greenwich Etc/GMT Etc/GMT0 Etc/GMT+0 Etc/GMT-0 Etc/Greenwich'],
  ['', 'Australia/Lord_Howe Australia/LHI Africa/Casablanca Africa/El_Aaiun'],
];

const names = new Map<string, ReadonlyMap<number, string>>();
for (const [hours, zones] of groups) {
  const pairs = [...hours.matchAll(/(\S+) (\S+)/g)].map(([, east, name]) => [Number(east) * 3600, name!] as const);
  for (const zone of zones.split(' ')) names.set(zone, new Map(pairs));
}

/** The name of an offset in a zone; empty when it has none, and `undefined` where JavaScript knows. */
export function shortZoneName(timeZone: string, offset: number): string | undefined {
  const known = names.get(timeZone);
  return known && (known.get(offset) ?? '');
}

/** Go looks for a file of that name: `europe/berlin` is no zone. */
export function isWrittenAsFile(timeZone: string): boolean {
  // JavaScript knows more names of three letters than there are files.
  if (/^[A-Z]{3}$/.test(timeZone)) return shortFiles.has(timeZone);
  return /^[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*$/.test(timeZone) && !/[A-Z]{4}\/|\/[A-Z]{4}/.test(timeZone);
}

const shortFiles = new Set(['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC', 'WET']);
