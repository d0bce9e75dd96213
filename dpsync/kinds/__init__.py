"""What can be managed: one declaration per kind. From it come the configuration's schema, the reader, the
comparison, the requests and their order. The registry is the only dispatcher."""
