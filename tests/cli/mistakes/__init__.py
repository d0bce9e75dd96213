"""What newcomers get wrong, as a table: the message of each mistake, and the mend that it asks for."""
