// Selects features by the correlations of all pairs of columns, for `bench peers`: every correlation is an aggregate
// that the engine computes in a query, as users of SQL and of data frames ask for it.
//
//     node pairs.mjs LIBRARY MODULES ROWS.parquet LABEL K THREADS MEMORY
//
// MODULES is the node_modules folder that has LIBRARY, which is duckdb or polars. Standard output gets one JSON object
// as peers.py writes it. If K is 0, it is the library's version. Exit code 4 says that the memory limit was too low.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [library, modules, file, label, k, threads, memory] = process.argv.slice(2);
process.env.POLARS_MAX_THREADS = threads; // before it is loaded
const load = createRequire(modules + '/');

// At 4,000 aggregates a query DuckDB is at its fastest (500: 1.3 times as long a pair; 20,000: 1.2, and 3 times the memory).
const pairsPerQuery = 4000;

const engines = {
  duckdb: {
    package: '@duckdb/node-api',
    async open() {
      const instance = await load('@duckdb/node-api').DuckDBInstance.create(':memory:', { threads, memory_limit: `${memory}B` });
      const connection = await instance.connect();
      const name = (n) => `"${n.replaceAll('"', '""')}"`;
      const table = `read_parquet('${file.replaceAll("'", "''")}')`;
      const ask = async (query) => (await connection.run(query)).getRows();
      return {
        columns: (await ask(`DESCRIBE SELECT * FROM ${table}`)).map((row) => row[0]),
        correlate: async (pairs) => (await ask(`SELECT ${pairs.map(([a, b]) => `corr(${name(a)}, ${name(b)})`).join(', ')} FROM ${table}`))[0],
      };
    },
  },
  polars: {
    package: 'nodejs-polars',
    async open() {
      const pl = load('nodejs-polars');
      const table = pl.readParquet(file);
      return {
        columns: table.columns,
        correlate: async (pairs) => table.select(...pairs.map(([a, b], i) => pl.pearsonCorr(a, b).alias(String(i)))).row(0),
      };
    },
  },
};

async function correlateAll(engine, names) {
  const d = names.length;
  const pairs = [];
  for (let i = 0; i < d; i++) for (let j = 0; j < i; j++) pairs.push([i, j]);
  const matrix = Array.from({ length: d }, () => new Float64Array(d));
  for (let first = 0; first < pairs.length; first += pairsPerQuery) {
    const some = pairs.slice(first, first + pairsPerQuery);
    const found = await engine.correlate(some.map(([i, j]) => [names[i], names[j]]));
    some.forEach(([i, j], p) => { matrix[i][j] = matrix[j][i] = Number.isFinite(found[p]) ? found[p] : 0; });
  }
  for (let i = 0; i < d; i++) matrix[i][i] = matrix[i].some((r) => r !== 0) ? 1 : 0; // a constant column correlates with none
  return matrix;
}

// The features that best reconstruct all others (Farahat, Ghodsi, Kamel 2011), from their correlations.
function chooseGreedily(e, k) {
  const chosen = [];
  while (chosen.length < k) {
    let best = -1, most = -Infinity;
    for (let j = 0; j < e.length; j++) {
      if (chosen.includes(j)) continue;
      const gain = e[j][j] > 1e-9 ? e[j].reduce((sum, v) => sum + v * v, 0) / e[j][j] : 0;
      if (gain > most) [best, most] = [j, gain];
    }
    chosen.push(best);
    if (!(e[best][best] > 1e-9)) continue;
    const root = Math.sqrt(e[best][best]);
    const part = Float64Array.from(e[best], (v) => v / root);
    e.forEach((row, i) => { for (let j = 0; j < row.length; j++) row[j] -= part[i] * part[j]; });
  }
  return chosen;
}

try {
  if (k === '0') {
    load(engines[library].package);
    console.log(JSON.parse(readFileSync(`${modules}/${engines[library].package}/package.json`)).version);
    process.exit(0);
  }
  const engine = await engines[library].open();
  const matrix = await correlateAll(engine, engine.columns.filter((name) => name !== label));
  const chosen = chooseGreedily(matrix, Number(k));
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * 1024;
  console.log(JSON.stringify({ chosen, scores: null, peak }));
} catch (fault) {
  console.error(String(fault));
  process.exit(/out of memory/i.test(String(fault)) ? 4 : 1);
}
