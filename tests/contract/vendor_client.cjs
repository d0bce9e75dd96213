// Drives the vendor's own JavaScript client, unchanged, from its package.
//
//   node vendor_client.cjs PACKAGE ENDPOINT TOKEN
//
// The first line that it writes lists every method of the client: where it hangs, what it takes, and the request
// that it makes. Then each line that it reads is a call, {"namespace", "name", "args"}, and each line that it
// writes what came of it: {"status"} with "error" where the client could not make anything of the answer, or
// {"error"} alone where it refused to send, or threw.

'use strict';

const readline = require('node:readline');

const [path, endpoint, authToken] = process.argv.slice(2);
const { GitBookAPI } = require(`${path}/dist/index.cjs`);
const client = new GitBookAPI({ endpoint, authToken });

function methods() {
    const found = [];
    for (const [namespace, members] of Object.entries(client)) {
        for (const [name, member] of Object.entries(members ?? {})) {
            const source = typeof member === 'function' ? member.toString() : '';
            const path = /path: `([^`]+)`/.exec(source);
            const method = /method: "([A-Z]+)"/.exec(source);
            if (path === null || method === null) continue;
            const parameters = source.slice(1, source.indexOf(') =>')).split(', ').map((one) => one.split(' ')[0]);
            found.push({ namespace, name, parameters, method: method[1], path: path[1] });
        }
    }
    return found;
}

async function call({ namespace, name, args }) {
    try {
        const answer = await client[namespace][name](...args.map((one) => (one === null ? undefined : one)));
        const error = answer.error === undefined || answer.error === null ? {} : { error: String(answer.error) };
        return { status: answer.status, ...error };
    } catch (error) {
        return { status: error.response?.status ?? error.code, error: String(error.message ?? error) };
    }
}

async function main() {
    console.log(JSON.stringify(methods()));
    for await (const line of readline.createInterface({ input: process.stdin })) {
        console.log(JSON.stringify(await call(JSON.parse(line))));
    }
}

main();
